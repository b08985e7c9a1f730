// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <map>
#include <string>

#include "host/choice.hpp"
#include "tests/check.hpp"

using namespace mpigauge::host;

namespace {

std::map<std::string, std::string> variables;

Start started_with(std::map<std::string, std::string> environment) {
  variables = std::move(environment);
  return start_of([](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Start by_hand;
Start by_mpich() { return started_with({{"HYDI_CONTROL_FD", "7"}, {"PMI_RANK", "1"}}); }
Start by_intel() {
  return started_with({{"HYDRA_BSTRAP_PROXY_ID", "0"}, {"MPI_LOCALNRANKS", "2"}});
}
Start by_open_mpi() { return started_with({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}}); }

constexpr std::string_view site = R"(# a comment
mpi mpich 5.0.2
  abi mpich
  launcher hydra
  library /a/lib/libmpi.so.12
  mpiexec /a/bin/mpiexec.hydra

mpi openmpi 5.0.11
  abi ompi
  launcher openmpi
  library /b/lib/libmpi.so.40
  mpiexec /b/bin/prterun
  env OPAL_PREFIX=/b
  env WITH=a = b
mpi intel 2021.18
  abi mpich
  launcher hydra
  library /c with blanks/lib/libmpi.so.12
  mpiexec /c with blanks/bin/mpiexec.hydra
mpi mpich 4.1
  abi std
  launcher hydra
  library /d/lib/libmpi_abi.so.1
  mpiexec /d/bin/mpiexec.hydra
)";

Mpis site_mpis() {
  Mpis mpis;
  CHECK_EQ(read_mpis(site, mpis), 0);
  return mpis;
}

std::string names_in_order(const Start& start) {
  std::string text;
  for (const LibraryName& name : names_after(start)) {
    text += std::string(text.empty() ? "" : " ") + std::string(name.file);
  }
  return text;
}

std::string_view chosen(const Mpis& mpis, const Start& start) {
  const Mpi* mpi = choose(mpis.all(), start);
  return mpi == nullptr ? "none" : mpi->library;
}

int first_bad_line(std::string_view text) {
  Mpis mpis;
  return read_mpis(text, mpis);
}

}  // namespace

TEST(reads_what_was_installed) {
  const Mpis mpis = site_mpis();
  CHECK_EQ(mpis.all().size(), 4U);
  const Mpi& open_mpi = mpis.all()[1];
  CHECK_EQ(open_mpi.label, "openmpi 5.0.11");
  CHECK(open_mpi.abi == Abi::ompi);
  CHECK(open_mpi.launcher == Family::openmpi);
  CHECK_EQ(open_mpi.env.all().size(), 2U);
  CHECK_EQ(open_mpi.env.all()[1], "WITH=a = b");
  CHECK_EQ(mpis.all()[2].library, "/c with blanks/lib/libmpi.so.12");
}

TEST(names_the_line_that_makes_no_sense) {
  CHECK_EQ(first_bad_line("library /a"), 1);
  CHECK_EQ(first_bad_line("mpi a\nabi strange"), 2);
  CHECK_EQ(first_bad_line("mpi a\n\nlauncher ssh"), 3);
  CHECK_EQ(first_bad_line("mpi a\nenv NAME"), 2);
  CHECK_EQ(first_bad_line("mpi a\nlibrary"), 2);
  CHECK_EQ(first_bad_line("mpi a\ncolour blue"), 2);
  CHECK_EQ(first_bad_line(""), 0);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "mpi a\n";
  CHECK(first_bad_line(many) > 40);
}

TEST(started_by_hand_the_first_is_taken) {
  CHECK_EQ(chosen(site_mpis(), by_hand), "/a/lib/libmpi.so.12");
}

TEST(the_launcher_selects_its_own) {
  const Mpis mpis = site_mpis();
  CHECK_EQ(chosen(mpis, by_mpich()), "/a/lib/libmpi.so.12");
  CHECK_EQ(chosen(mpis, by_intel()), "/c with blanks/lib/libmpi.so.12");
  CHECK_EQ(chosen(mpis, by_open_mpi()), "/b/lib/libmpi.so.40");
}

TEST(the_folder_of_the_launcher_tells_versions_apart) {
  Start start = by_mpich();
  CHECK(!started_by("/bin/bash", start));
  CHECK(!started_by("", start));
  CHECK(started_by("/d/bin/hydra_pmi_proxy", start));
  CHECK_EQ(start.folder, "/d/bin");
  CHECK_EQ(chosen(site_mpis(), start), "/d/lib/libmpi_abi.so.1");
}

TEST(the_nearest_launcher_counts) {
  Start start = by_mpich();
  CHECK(started_by("/b/bin/prted", start));
  CHECK_EQ(chosen(site_mpis(), start), "/b/lib/libmpi.so.40");
}

TEST(what_the_user_offers_comes_first) {
  Mpis mpis = site_mpis();
  mpis.add({.abi = Abi::mpich, .library = "/mine/libmpi.so.12", .offered = true});
  mpis.add({.abi = Abi::ompi, .library = "/mine/libmpi.so.40", .offered = true});
  CHECK_EQ(chosen(mpis, by_hand), "/mine/libmpi.so.12");
  CHECK_EQ(chosen(mpis, by_intel()), "/mine/libmpi.so.12");
  CHECK_EQ(chosen(mpis, by_open_mpi()), "/mine/libmpi.so.40");
}

TEST(no_library_of_another_launcher_is_taken) {
  Mpis mpis;
  mpis.add({.abi = Abi::mpich, .library = "/mine/libmpi.so.12", .offered = true});
  CHECK_EQ(chosen(mpis, by_open_mpi()), "none");
  CHECK_EQ(chosen({}, by_hand), "none");
  mpis.add({.abi = Abi::std, .library = "/mine/libmpi_abi.so.1", .offered = true});
  CHECK_EQ(chosen(mpis, by_open_mpi()), "/mine/libmpi_abi.so.1");
}

TEST(a_resource_manager_serves_all_and_only_hints) {
  const Mpis mpis = site_mpis();
  CHECK_EQ(chosen(mpis, started_with({{"PMIX_RANK", "0"}})), "/b/lib/libmpi.so.40");
  CHECK_EQ(chosen(mpis, started_with({{"PMI_RANK", "0"}})), "/a/lib/libmpi.so.12");
  Mpis other;
  other.add({.abi = Abi::mpich, .library = "/mine/libmpi.so.12"});
  CHECK_EQ(chosen(other, started_with({{"PMIX_RANK", "0"}})), "/mine/libmpi.so.12");
}

TEST(what_lies_beside_the_launcher_comes_before_the_list_but_not_before_the_same_of_the_list) {
  Start start = by_mpich();
  CHECK(started_by("/usr/bin/hydra_pmi_proxy", start));
  Mpis mpis = site_mpis();
  mpis.add(
      {.abi = Abi::mpich, .library = "/usr/lib/libmpich.so.12", .mpiexec = "/usr/bin/mpiexec"});
  CHECK_EQ(chosen(mpis, start), "/usr/lib/libmpich.so.12");
  CHECK(started_by("/a/bin/hydra_pmi_proxy", start));
  mpis.add({.abi = Abi::mpich, .library = "/a/lib64/libmpi.so.12", .mpiexec = "/a/bin/mpiexec"});
  CHECK_EQ(chosen(mpis, start), "/a/lib/libmpi.so.12");
}

TEST(libraries_are_looked_for_by_the_names_that_the_launcher_can_start) {
  const std::string mpich = "libmpi.so.12 libmpich.so.12",
                    standard = "libmpi_abi.so.1 libmpi_abi.so.0";
  const std::string open_mpi = "libmpi.so.40 libmpi_ibm.so.3 libmpi.so.20";
  CHECK_EQ(names_in_order(by_hand), mpich + " " + open_mpi + " " + standard);
  CHECK_EQ(names_in_order(by_mpich()), mpich + " " + standard);
  CHECK_EQ(names_in_order(by_open_mpi()), open_mpi + " " + standard);
  const Start by_srun = started_with({{"PMIX_RANK", "0"}});
  CHECK_EQ(names_in_order(by_srun), open_mpi + " " + mpich + " " + standard);
}

TEST(paths_are_taken_apart) {
  CHECK_EQ(base_name("/a/b/IMB-MPI1"), "IMB-MPI1");
  CHECK_EQ(base_name("IMB-MPI1"), "IMB-MPI1");
  CHECK_EQ(folder_of("/a/b/IMB-MPI1"), "/a/b");
  CHECK_EQ(folder_of("IMB-MPI1"), "");
}
