// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "host/choice.hpp"

namespace mpigauge::host {

namespace {

constexpr std::array<std::string_view, 4> abi_names{"", "mpich", "ompi", "std"};

constexpr std::array<LibraryName, 7> names{{
    {"libmpi.so.12", Abi::mpich},    // MPICH 3.1 and later, Intel MPI 5 and later, MVAPICH
    {"libmpich.so.12", Abi::mpich},  // MPICH in Debian
    {"libmpi.so.40", Abi::ompi},
    {"libmpi_ibm.so.3", Abi::ompi},  // Spectrum MPI
    {"libmpi.so.20", Abi::ompi},
    {"libmpi_abi.so.1", Abi::std},
    {"libmpi_abi.so.0", Abi::std},
}};

// A program that starts ranks; some names are shared by all MPIs.
struct Program {
  std::string_view name;
  Family family;
};
constexpr std::array<Program, 9> programs{{
    {"hydra_pmi_proxy", Family::hydra},
    {"mpiexec.hydra", Family::hydra},
    {"prted", Family::openmpi},
    {"prterun", Family::openmpi},
    {"prte", Family::openmpi},
    {"orted", Family::openmpi},
    {"orterun", Family::openmpi},
    {"mpiexec", Family::unknown},
    {"mpirun", Family::unknown},
}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  while (!text.empty() && blank.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && blank.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

bool understand(std::string_view word, std::string_view value, Mpis& mpis) {
  if (value.empty()) return false;
  if (word == "mpi") return mpis.add({.label = value});
  if (mpis.empty()) return false;
  Mpi& mpi = mpis.last();
  if (word == "abi") return (mpi.abi = abi_named(value)) != Abi::none;
  if (word == "launcher") return (mpi.launcher = family_named(value)) != Family::unknown;
  if (word == "library") mpi.library = value;
  if (word == "mpiexec") mpi.mpiexec = value;
  if (word == "env") return value.find('=') != std::string_view::npos && mpi.env.add(value);
  return word == "library" || word == "mpiexec";
}

// An ABI tells the launcher, but for the standard one, which any library may have.
Family family_of(const Mpi& mpi) {
  if (mpi.launcher != Family::unknown) return mpi.launcher;
  if (mpi.abi == Abi::ompi) return Family::openmpi;
  return mpi.abi == Abi::mpich ? Family::hydra : Family::unknown;
}

bool fits(const Mpi& mpi, const Start& start) {
  if (mpi.library.empty() || mpi.abi == Abi::none) return false;
  const Family family = family_of(mpi);
  return !start.sure || family == Family::unknown || family == start.family;
}

// Each reason outweighs all that come after it.
int merit(const Mpi& mpi, const Start& start) {
  const bool same_place = !start.folder.empty() && folder_of(mpi.mpiexec) == start.folder;
  const bool is_intel = mpi.label.starts_with("intel");
  return (mpi.offered ? 8 : 0) + (same_place ? 4 : 0) + (family_of(mpi) == start.family ? 2 : 0) +
         (is_intel == start.intel ? 1 : 0);
}

}  // namespace

std::string_view name_of(Abi abi) { return abi_names[static_cast<std::size_t>(abi)]; }

Abi abi_named(std::string_view name) {
  for (const Abi abi : {Abi::mpich, Abi::ompi, Abi::std}) {
    if (name == name_of(abi)) return abi;
  }
  return Abi::none;
}

Family family_named(std::string_view name) {
  if (name == "hydra") return Family::hydra;
  return name == "openmpi" ? Family::openmpi : Family::unknown;
}

Start start_of(Look look) {
  const auto set = [look](const char* name) { return look(name) != nullptr; };
  const bool intel = set("HYDRA_BSTRAP_PROXY_ID") || set("I_MPI_HYDRA_UUID");
  if (intel || set("HYDI_CONTROL_FD") || set("MPI_LOCALNRANKS")) {
    return {.family = Family::hydra, .sure = true, .intel = intel};
  }
  if (set("OMPI_COMM_WORLD_SIZE")) return {.family = Family::openmpi, .sure = true};
  // srun and other launchers of resource managers serve whoever speaks their protocol.
  if (set("PMIX_RANK")) return {.family = Family::openmpi};
  if (set("PMI_RANK")) return {.family = Family::hydra};
  return {};
}

bool started_by(std::string_view program, Start& start) {
  for (const Program& known : programs) {
    if (base_name(program) != known.name) continue;
    start.folder = folder_of(program);
    // The nearest counts, where a launcher was started below another's rank.
    if (known.family != Family::unknown) start.family = known.family;
    return true;
  }
  return false;
}

const Mpi* choose(std::span<const Mpi> mpis, const Start& start) {
  const Mpi* best = nullptr;
  for (const Mpi& mpi : mpis) {
    if (!fits(mpi, start)) continue;
    if (best == nullptr || merit(mpi, start) > merit(*best, start)) best = &mpi;
  }
  return best;
}

LibraryNames names_after(const Start& start) {
  LibraryNames found;
  for (const bool own : {true, false}) {
    for (const LibraryName& name : names) {
      const Mpi named{.abi = name.abi, .library = name.file};
      const bool of_family = start.family == Family::unknown || family_of(named) == start.family;
      if (of_family == own && fits(named, start)) found.add(name);
    }
  }
  return found;
}

int read_mpis(std::string_view text, Mpis& mpis) {
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = trimmed(take(text, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const std::string_view word = take(line, ' ');
    if (!understand(word, trimmed(line), mpis)) return number;
  }
  return 0;
}

std::string_view take(std::string_view& text, char mark) {
  std::string_view head = text;
  const auto at = text.find(mark);
  if (at == std::string_view::npos) {
    text = {};
    return head;
  }
  head.remove_suffix(head.size() - at);
  text.remove_prefix(at + 1);
  return head;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  path.remove_suffix(slash == std::string_view::npos ? path.size() : path.size() - slash);
  return path;
}

}  // namespace mpigauge::host
