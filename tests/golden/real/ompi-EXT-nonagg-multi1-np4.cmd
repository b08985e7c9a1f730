mpirun -n 4 IMB-EXT Unidir_Put Accumulate -aggregate_mode non_aggregate -multi 1 -iter 4,40,4 -msglog 0:3
