// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Buffers of mpi_f08 in MPICH, and what modules have besides subroutines, by the names that
// gfortran gives them.
#include "f08.hpp"

#include "subroutines.hpp"

#if MPIGAUGE_PROGRAM_IS_MPICH

namespace mpigauge::translate::f08 {

namespace {

constexpr int most_dimensions = 15;
/// Of other compilers the same bytes are a version, or a number of flags.
constexpr std::size_t longest_element = std::size_t{1} << 40U;

bool is_of_gfortran(const Descriptor& descriptor) {
  return descriptor.version == 0 && descriptor.element < longest_element && descriptor.rank >= 0 &&
         descriptor.rank <= most_dimensions;
}

// Of an array of assumed size nobody knows the last extent: it is below zero, and all lie in one
// piece.
bool lies_in_one_piece(const Descriptor& descriptor) {
  if (descriptor.base == nullptr) return true;  // what is not allocated may have any extents
  const auto element = static_cast<std::ptrdiff_t>(descriptor.element);
  std::ptrdiff_t expected = element;
  for (int n = 0; n < descriptor.rank; ++n) {
    const auto& each = descriptor.dimensions[n];
    const std::ptrdiff_t extent = each.upper - each.lower + 1;
    if (extent <= 0) return true;
    if (extent != 1 && each.stride * descriptor.span != expected) return false;
    expected *= extent;
  }
  return true;
}

const Descriptor& checked(const void* descriptor) {
  const auto& found = *static_cast<const Descriptor*>(descriptor);
  if (!is_of_gfortran(found)) {
    end("mpi_f08",
        "buffers are understood as gfortran describes them, from its version 9 on; this "
        "program was made by another compiler");
  }
  return found;
}

}  // namespace

Section::Section(const void* descriptor)
    : descriptor_(checked(descriptor)), is_contiguous_(lies_in_one_piece(descriptor_)) {}

void* Section::address() const { return fortran::buffer_of(descriptor_.base); }

Wide Section::extent(int dimension) const {
  const auto& each = descriptor_.dimensions[dimension];
  return each.upper - each.lower + 1;
}
std::ptrdiff_t Section::step(int dimension) const {
  return descriptor_.dimensions[dimension].stride * descriptor_.span;
}

std::size_t Section::bytes() const {
  std::size_t all = descriptor_.element;
  for (int n = 0; n < descriptor_.rank; ++n) all *= static_cast<std::size_t>(extent(n));
  return all;
}

// In the order of Fortran: the first index runs fastest.
template <class Do>
void Section::each_element(Do do_it) const {
  std::array<Wide, most_dimensions> at{};
  auto* place = static_cast<char*>(descriptor_.base);
  for (;;) {
    do_it(place);
    int n = 0;
    for (; n < descriptor_.rank; ++n) {
      place += step(n);
      if (++at[static_cast<std::size_t>(n)] < extent(n)) break;
      place -= step(n) * extent(n);
      at[static_cast<std::size_t>(n)] = 0;
    }
    if (n == descriptor_.rank) return;
  }
}

void Section::pack(char* to) const {
  each_element([&](const char* place) {
    std::memcpy(to, place, descriptor_.element);
    to += descriptor_.element;
  });
}
void Section::unpack(const char* from) const {
  each_element([&](char* place) {
    std::memcpy(place, from, descriptor_.element);
    from += descriptor_.element;
  });
}

namespace {

using Datatype = ProgramHandle<Kind::datatype>;

// Types that are made of each other, of which only the last one stays.
class Types {
 public:
  Types() = default;
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() {
    for (Datatype each : made_) PMPI_Type_free(&each);
  }
  Datatype repeated(Wide count, Datatype type) {
    Datatype made{};
    const int code = PMPI_Type_contiguous_c(count, type, &made);
    return kept(code, made);
  }
  Datatype spread(Wide count, std::ptrdiff_t step, Datatype type) {
    Datatype made{};
    const int code = PMPI_Type_create_hvector_c(count, 1, step, type, &made);
    return kept(code, made);
  }
  [[nodiscard]] bool is_good() const { return is_good_; }

 private:
  Datatype kept(int code, Datatype made) {
    if (code == 0) {
      made_.push_back(made);
    } else {
      is_good_ = false;
    }
    return made;
  }
  std::vector<Datatype> made_;
  bool is_good_ = true;
};

// Parts of a type, each at its distance in bytes from the first.
struct Parts {
  std::vector<Datatype> types;
  std::vector<Wide> places;
  std::vector<int> ones;
  void add(Datatype type, Wide place) {
    types.push_back(type);
    places.push_back(place);
    ones.push_back(1);
  }
};

// How many bytes an item of a type has, or 0: it has gaps, or does not begin where it is.
Wide bytes_without_gaps(Datatype type) {
  Wide lower = 0, extent = 0;
  int size = 0;
  if (PMPI_Type_get_extent(type, &lower, &extent) != 0 || PMPI_Type_size(type, &size) != 0)
    return 0;
  return lower == 0 && extent == size ? extent : 0;
}

}  // namespace

// Whole elements first: as many of the slowest dimension as are full, then what is left of the next
// one; at the end the items that do not fill an element.
bool Section::make_type(Wide count, Datatype type, Datatype* made) const {
  const Wide item = bytes_without_gaps(type);
  const auto element = static_cast<Wide>(descriptor_.element);
  if (item == 0 || element % item != 0 || count < 0) return false;
  const Wide in_element = element / item;
  if (count * item > static_cast<Wide>(bytes())) return false;
  Types types;
  std::vector<Datatype> layers{types.repeated(in_element, type)};
  std::vector<Wide> elements{1};
  for (int n = 0; n < descriptor_.rank && types.is_good(); ++n) {
    layers.push_back(types.spread(extent(n), step(n), layers.back()));
    elements.push_back(elements.back() * extent(n));
  }
  Parts parts;
  Wide left = count / in_element, place = 0;
  for (std::size_t layer = layers.size(); layer-- > 0 && types.is_good();) {
    const Wide whole = left / elements[layer];
    if (whole == 0) continue;
    const auto dimension = static_cast<int>(layer);
    const std::ptrdiff_t to_next = dimension == descriptor_.rank ? 0 : step(dimension);
    parts.add(types.spread(whole, to_next, layers[layer]), place);
    left -= whole * elements[layer];
    place += whole * to_next;
  }
  if (const Wide rest = count % in_element; rest != 0) parts.add(types.repeated(rest, type), place);
  if (!types.is_good()) return false;
  return PMPI_Type_create_struct(static_cast<int>(parts.types.size()), parts.ones.data(),
                                 parts.places.data(), parts.types.data(), made) == 0 &&
         PMPI_Type_commit(made) == 0;
}

void free_type(Datatype type) { PMPI_Type_free(&type); }

}  // namespace mpigauge::translate::f08

#endif

// NOLINTBEGIN(bugprone-reserved-identifier): gfortran's names of what modules have

// --- comparisons --------------------------------------------------------------------------------

#if !MPIGAUGE_PROGRAM_IS_STD

// What modules have for == and /=, of handles and of a handle with an integer.
#define MPIGAUGE_COMPARED(EQUAL, UNEQUAL)                                                        \
  MPIGAUGE_EXPORT int EQUAL(const int* one, const int* other) { return *one == *other ? 1 : 0; } \
  MPIGAUGE_EXPORT int UNEQUAL(const int* one, const int* other) { return *one == *other ? 0 : 1; }
#if MPIGAUGE_PROGRAM_IS_OMPI
#define MPIGAUGE_COMPARISONS(KIND, NAME)                     \
  MPIGAUGE_COMPARED(__mpi_f08_types_MOD_ompi_##KIND##_op_eq, \
                    __mpi_f08_types_MOD_ompi_##KIND##_op_ne)
#else
#define MPIGAUGE_COMPARISONS(KIND, NAME)                                                       \
  MPIGAUGE_COMPARED(__mpi_f08_types_MOD_mpi_##KIND##_eq, __mpi_f08_types_MOD_mpi_##KIND##_neq) \
  MPIGAUGE_COMPARED(__mpi_f08_types_MOD_mpi_##KIND##_f08_eq_f,                                 \
                    __mpi_f08_types_MOD_mpi_##KIND##_f08_neq_f)                                \
  MPIGAUGE_COMPARED(__mpi_f08_types_MOD_mpi_##KIND##_f_eq_f08,                                 \
                    __mpi_f08_types_MOD_mpi_##KIND##_f_neq_f08)                                \
  MPIGAUGE_COMPARED(__mpi_constants_MOD_##KIND##eq, __mpi_constants_MOD_##KIND##neq)
#endif
MPIGAUGE_FOR_EACH_KIND(MPIGAUGE_COMPARISONS)

#endif

#if MPIGAUGE_PROGRAM_IS_MPICH

// --- statuses ------------------------------------------------------------------------------------

using mpigauge::translate::ProgramStatus;

#define MPIGAUGE_STATUS_COPIED(NAME)                                                     \
  MPIGAUGE_EXPORT void NAME(const ProgramStatus* from, ProgramStatus* to, int* ierror) { \
    *to = *from;                                                                         \
    if (ierror != nullptr) *ierror = 0;                                                  \
  }
MPIGAUGE_STATUS_COPIED(__mpi_f08_types_MOD_mpi_status_f082f)
MPIGAUGE_STATUS_COPIED(__mpi_f08_types_MOD_mpi_status_f2f08)
MPIGAUGE_STATUS_COPIED(__mpi_f08_types_MOD_pmpi_status_f082f)
MPIGAUGE_STATUS_COPIED(__mpi_f08_types_MOD_pmpi_status_f2f08)

#endif

// --- sizes of what a variable holds -------------------------------------------------------------

#if !MPIGAUGE_PROGRAM_IS_STD

namespace {

void set_size(int* size, int bytes, int* ierror) {
  *size = bytes;
  if (ierror != nullptr) *ierror = 0;
}

}  // namespace

#define MPIGAUGE_SIZE(NAME, BYTES) \
  MPIGAUGE_EXPORT void NAME(void*, int* size, int* ierror) { set_size(size, BYTES, ierror); }

#if MPIGAUGE_PROGRAM_IS_OMPI

// One for each type and rank, of both modules.
#define MPIGAUGE_SIZES(NAME, BYTES)    \
  MPIGAUGE_SIZE(NAME##_scalar_, BYTES) \
  MPIGAUGE_SIZE(NAME##_r1_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r2_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r3_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r4_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r5_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r6_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r7_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r8_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r9_, BYTES)     \
  MPIGAUGE_SIZE(NAME##_r10_, BYTES)    \
  MPIGAUGE_SIZE(NAME##_r11_, BYTES)    \
  MPIGAUGE_SIZE(NAME##_r12_, BYTES)    \
  MPIGAUGE_SIZE(NAME##_r13_, BYTES)    \
  MPIGAUGE_SIZE(NAME##_r14_, BYTES)    \
  MPIGAUGE_SIZE(NAME##_r15_, BYTES)
MPIGAUGE_SIZES(mpi_sizeof_character, 1)
MPIGAUGE_SIZES(mpi_sizeof_logical, 4)
MPIGAUGE_SIZES(mpi_sizeof_int8, 1)
MPIGAUGE_SIZES(mpi_sizeof_int16, 2)
MPIGAUGE_SIZES(mpi_sizeof_int32, 4)
MPIGAUGE_SIZES(mpi_sizeof_int64, 8)
MPIGAUGE_SIZES(mpi_sizeof_real32, 4)
MPIGAUGE_SIZES(mpi_sizeof_real64, 8)
MPIGAUGE_SIZES(mpi_sizeof_real128, 16)
MPIGAUGE_SIZES(mpi_sizeof_complex32, 8)
MPIGAUGE_SIZES(mpi_sizeof_complex64, 16)
MPIGAUGE_SIZES(mpi_sizeof_complex128, 32)

#else

MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_character, 1)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_logical, 4)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xint8, 1)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xint16, 2)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xint32, 4)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xint64, 8)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xreal32, 4)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xreal64, 8)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xreal128, 16)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xcomplex32, 8)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xcomplex64, 16)
MPIGAUGE_SIZE(__mpi_f08_types_MOD_mpi_sizeof_xcomplex128, 32)

// Of the module mpi, each for one value and for an array.
#define MPIGAUGE_SIZES(NAME, BYTES)                         \
  MPIGAUGE_SIZE(__mpi_sizeofs_MOD_mpi_sizeof_##NAME, BYTES) \
  MPIGAUGE_SIZE(__mpi_sizeofs_MOD_mpi_sizeof_##NAME##v, BYTES)
MPIGAUGE_SIZES(ch, 1)
MPIGAUGE_SIZES(l, 4)
MPIGAUGE_SIZES(i1, 1)
MPIGAUGE_SIZES(i2, 2)
MPIGAUGE_SIZES(i, 4)
MPIGAUGE_SIZES(i8, 8)
MPIGAUGE_SIZES(r, 4)
MPIGAUGE_SIZES(d, 8)
MPIGAUGE_SIZES(cx, 8)
MPIGAUGE_SIZES(ch1, 1)  // these from MPICH 4.1 on
MPIGAUGE_SIZES(l4, 4)
MPIGAUGE_SIZES(i4, 4)
MPIGAUGE_SIZES(r4, 4)
MPIGAUGE_SIZES(r8, 8)
MPIGAUGE_SIZES(cx8, 8)
MPIGAUGE_SIZES(cx16, 16)

#endif

#endif

// NOLINTEND(bugprone-reserved-identifier)
