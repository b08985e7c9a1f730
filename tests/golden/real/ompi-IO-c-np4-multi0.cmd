mpirun -n 4 IMB-IO C_Write_Indv P_Read_Shared -npmin 2 -multi 0 -iter 3,4,2 -msglog 10:12
