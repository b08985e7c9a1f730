// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Where the files of a job are: a folder of its own in each directory that the user names.
#pragma once

#include <string>
#include <string_view>

#include "suites/io/trouble.hpp"

namespace mpigauge::io {

/// The folder that the ranks of a group share in a directory; its rank 0 makes it when it has none
/// there, and so does every host that does not see it (a local disk). It goes when the job ends,
/// however that ends. All ranks of the group together.
std::string folder_in(std::string_view directory, MPI_Comm group, Trouble& trouble);

}  // namespace mpigauge::io
