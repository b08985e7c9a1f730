// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <type_traits>

#include "core/library.hpp"

namespace mpigauge {

namespace {

// Pairs as MPI_MINLOC and MPI_MAXLOC take them.
template <class Value>
struct ValueAt {
  Value value;
  int place;
};

// An element with as much unused room behind it: what a type has whose extent was doubled.
template <class Value>
struct Spread {
  Value value;
  Value room;
};

// Sixteen-bit floating point, as far as small whole numbers need it.
template <int mantissa_bits>
class Short {
 public:
  Short() = default;
  explicit Short(float number) {
    if (number == 0) return;
    int power = 0;
    const float part = std::frexp(number, &power);  // in 0.5 ... 1
    const auto digits = static_cast<unsigned>(std::ldexp(part, mantissa_bits + 1));
    const auto lifted = static_cast<unsigned>(power - 1 + bias) << mantissa_bits;
    bits_ = static_cast<std::uint16_t>(lifted | (digits & ((1U << mantissa_bits) - 1U)));
  }
  explicit operator float() const {
    if (bits_ == 0) return 0;
    const unsigned digits = (bits_ & ((1U << mantissa_bits) - 1U)) | (1U << mantissa_bits);
    const int power = static_cast<int>(bits_ >> mantissa_bits) - bias - mantissa_bits;
    return std::ldexp(static_cast<float>(digits), power);
  }
  bool operator==(const Short&) const = default;
  bool operator<(const Short& o) const { return float(*this) < float(o); }
  friend Short operator+(Short a, Short b) { return Short(float(a) + float(b)); }
  friend Short operator*(Short a, Short b) { return Short(float(a) * float(b)); }

 private:
  static constexpr int bias = (1 << (14 - mantissa_bits)) - 1;
  std::uint16_t bits_ = 0;
};
using Float16 = Short<10>;
using Bfloat16 = Short<7>;

template <class T>
struct is_spread : std::false_type {};
template <class T>
struct is_spread<Spread<T>> : std::true_type {};
template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};
template <class T>
struct is_located : std::false_type {};
template <class T>
struct is_located<ValueAt<T>> : std::true_type {};

constexpr int ranks_of_short_numbers = 8;

// Whole numbers small enough for every type and operation to be exact over any number of ranks.
unsigned small_number(std::string_view op, int rank, std::size_t i) {
  const std::size_t at = static_cast<std::size_t>(rank) * 3 + i;
  if (op == "prod") return at % 61 == 0 ? 2U : 1U;
  if (op == "land" || op == "lor" || op == "lxor") return at % 3 == 0 ? 0U : 1U;
  return static_cast<unsigned>(at % 8 + 1);
}

template <class T>
T value_of(std::string_view op, int rank, std::size_t i) {
  const unsigned n = small_number(op, rank, i);
  if constexpr (is_spread<T>::value) {
    return {value_of<decltype(T::value)>(op, rank, i), {}};
  } else if constexpr (is_located<T>::value) {
    T pair{};
    pair.value = static_cast<decltype(pair.value)>(n);
    pair.place = rank;
    return pair;
  } else if constexpr (is_complex<T>::value) {
    using Part = T::value_type;
    // Powers of i stay on the unit circle, so that products are exact.
    if (op == "prod") return n == 2U ? T{Part{0}, Part{1}} : T{Part{1}, Part{0}};
    return T{static_cast<Part>(n), static_cast<Part>(n + 1)};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(n);
  } else {
    // Sixteen bits hold few digits: the ranks beyond the first change no sum and no product.
    const bool idle = rank >= ranks_of_short_numbers;
    if (idle && op == "sum") return T(0.0F);
    return T(idle && op == "prod" ? 1.0F : static_cast<float>(n));
  }
}

template <class T>
T combined_numbers(std::string_view op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // Unsigned and wide, since a library may wrap around where C++ must not.
    // NOLINTNEXTLINE(bugprone-signed-char-misuse)
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    if (op == "sum") return static_cast<T>(x + y);
    if (op == "prod") return static_cast<T>(x * y);
    if (op == "land") return static_cast<T>(a != 0 && b != 0);
    if (op == "lor") return static_cast<T>(a != 0 || b != 0);
    if (op == "lxor") return static_cast<T>((a != 0) != (b != 0));
    if (op == "band") return static_cast<T>(x & y);
    if (op == "bor") return static_cast<T>(x | y);
    if (op == "bxor") return static_cast<T>(x ^ y);
  } else {
    if (op == "sum") return a + b;
    if (op == "prod") return a * b;
  }
  return op == "max" ? std::max(a, b) : std::min(a, b);
}

template <class T>
T combined(std::string_view op, T a, T b) {
  if constexpr (is_spread<T>::value) {
    return {combined(op, a.value, b.value), {}};
  } else if constexpr (is_located<T>::value) {
    if (a.value == b.value) return a.place < b.place ? a : b;
    const bool first = op == "maxloc" ? a.value > b.value : a.value < b.value;
    return first ? a : b;
  } else if constexpr (is_complex<T>::value) {
    return op == "prod" ? a * b : a + b;
  } else {
    return combined_numbers(op, a, b);
  }
}

template <class T>
void fill(std::string_view op, int rank, std::size_t first, std::byte* to, std::size_t count) {
  std::array<T, pattern_period> period{};
  for (std::size_t i = 0; i < std::min(count, pattern_period); ++i) {
    period[i] = value_of<T>(op, rank, first + i);
  }
  for (std::size_t done = 0; done < count; done += pattern_period) {
    std::memcpy(to + done * sizeof(T), period.data(),
                std::min(count - done, pattern_period) * sizeof(T));
  }
}

// By value, not by bytes: pairs have padding, and a product may be a negative zero.
template <class T>
bool same(const std::byte* a, const std::byte* b) {
  T x{}, y{};
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  if constexpr (is_spread<T>::value) return x.value == y.value;
  else if constexpr (is_located<T>::value) return x.value == y.value && x.place == y.place;
  else return x == y;
}

template <class T>
void combine(std::string_view op, const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a{}, b{};
    std::memcpy(&a, to + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    const T both = combined(op, a, b);
    std::memcpy(to + i * sizeof(T), &both, sizeof(T));
  }
}

constexpr std::array<std::string_view, 10> integer_ops{"sum", "prod", "max",  "min", "land",
                                                       "lor", "lxor", "band", "bor", "bxor"};
constexpr std::array<std::string_view, 4> real_ops{"sum", "prod", "max", "min"};
constexpr std::array<std::string_view, 2> complex_ops{"sum", "prod"};
constexpr std::array<std::string_view, 2> located_ops{"maxloc", "minloc"};

template <class T>
constexpr std::span<const std::string_view> ops_of() {
  if constexpr (is_spread<T>::value) return ops_of<decltype(T::value)>();
  else if constexpr (is_located<T>::value) return located_ops;
  else if constexpr (is_complex<T>::value) return complex_ops;
  else if constexpr (std::is_integral_v<T>) return integer_ops;
  else return real_ops;
}

// Sixteen-bit types are extensions that no header of ours names. Where a library has them is known,
// and what it calls them is looked at before they are used; null where there is none.
#if defined(MPICH_NUMVERSION)
constexpr MPI_Datatype float16_place = 0x4c000246;

MPI_Datatype bfloat16_place() {
  const std::string library = library_text();
  if (library.starts_with("Intel(R) MPI Library")) return 0x4c000247;
  constexpr std::string_view mpich = "MPICH Version:";
  if (!library.starts_with(mpich)) return MPI_DATATYPE_NULL;
  const long major = std::strtol(library.c_str() + mpich.size(), nullptr, 10);
  return major >= 5 ? 0x4c00024c : MPI_DATATYPE_NULL;
}

MPI_Datatype if_called(MPI_Datatype type, std::string_view name, std::string_view other_name) {
  if (type == MPI_DATATYPE_NULL) return type;
  return_errors(MPI_COMM_SELF);  // where errors go that belong to no communicator
  std::array<char, MPI_MAX_OBJECT_NAME> text{};
  int length = 0;
  if (MPI_Type_get_name(type, text.data(), &length) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  return text.data() == name || text.data() == other_name ? type : MPI_DATATYPE_NULL;
}

MPI_Datatype float16() {
  static const auto found = if_called(float16_place, "MPIX_C_FLOAT16", "MPIX_FLOAT16");
  return found;
}

MPI_Datatype bfloat16() {
  static const auto found = if_called(bfloat16_place(), "MPIX_C_BF16", "MPIX_BFLOAT16");
  return found;
}
#else
MPI_Datatype float16() { return MPI_DATATYPE_NULL; }
MPI_Datatype bfloat16() { return MPI_DATATYPE_NULL; }
#endif

MPI_Datatype twice_the_extent(std::string_view name) {
  static std::map<std::string_view, MPI_Datatype> made;
  const auto [place, fresh] = made.try_emplace(name, MPI_DATATYPE_NULL);
  if (!fresh) return place->second;
  const DataType& base = *find_type(name);
  call(MPI_Type_create_resized(base.mpi(), 0, static_cast<MPI_Aint>(2 * base.bytes),
                               &place->second));
  call(MPI_Type_commit(&place->second));
  return place->second;
}

// A row per type. The handle is asked for at run time: in one ABI it is the address of an object
// of the library.
#define MPIGAUGE_TYPE(name, type, handle)                                               \
  DataType {                                                                            \
    name, sizeof(type), [] { return MPI_Datatype(handle); }, fill<type>, combine<type>, \
        same<type>, ops_of<type>()                                                      \
  }

const std::array table{
    DataType{"byte", 1, [] { return MPI_Datatype(MPI_BYTE); }, nullptr, nullptr, nullptr, {}},
    DataType{"char", 1, [] { return MPI_Datatype(MPI_CHAR); }, fill<std::int8_t>,
             combine<std::int8_t>, same<std::int8_t>, integer_ops},
    MPIGAUGE_TYPE("int", int, MPI_INT),
    MPIGAUGE_TYPE("float", float, MPI_FLOAT),
    MPIGAUGE_TYPE("double", double, MPI_DOUBLE),
    MPIGAUGE_TYPE("int8", std::int8_t, MPI_INT8_T),
    MPIGAUGE_TYPE("int16", std::int16_t, MPI_INT16_T),
    MPIGAUGE_TYPE("int32", std::int32_t, MPI_INT32_T),
    MPIGAUGE_TYPE("int64", std::int64_t, MPI_INT64_T),
    MPIGAUGE_TYPE("uint8", std::uint8_t, MPI_UINT8_T),
    MPIGAUGE_TYPE("uint16", std::uint16_t, MPI_UINT16_T),
    MPIGAUGE_TYPE("uint32", std::uint32_t, MPI_UINT32_T),
    MPIGAUGE_TYPE("uint64", std::uint64_t, MPI_UINT64_T),
    MPIGAUGE_TYPE("float_complex", std::complex<float>, MPI_C_FLOAT_COMPLEX),
    MPIGAUGE_TYPE("double_complex", std::complex<double>, MPI_C_DOUBLE_COMPLEX),
    MPIGAUGE_TYPE("float_int", ValueAt<float>, MPI_FLOAT_INT),
    MPIGAUGE_TYPE("double_int", ValueAt<double>, MPI_DOUBLE_INT),
    MPIGAUGE_TYPE("2int", ValueAt<int>, MPI_2INT),
    MPIGAUGE_TYPE("float16", Float16, float16()),
    MPIGAUGE_TYPE("bfloat16", Bfloat16, bfloat16()),
};

// The same with twice the extent, for -contig_type resize. Bytes have numbers too: what is sent is
// told apart from the room between.
#define MPIGAUGE_SPREAD(name, type) MPIGAUGE_TYPE(name, Spread<type>, twice_the_extent(name))
const std::array spread_table{
    MPIGAUGE_SPREAD("byte", std::uint8_t),
    MPIGAUGE_SPREAD("char", std::int8_t),
    MPIGAUGE_SPREAD("int", int),
    MPIGAUGE_SPREAD("float", float),
    MPIGAUGE_SPREAD("double", double),
    MPIGAUGE_SPREAD("int8", std::int8_t),
    MPIGAUGE_SPREAD("int16", std::int16_t),
    MPIGAUGE_SPREAD("int32", std::int32_t),
    MPIGAUGE_SPREAD("int64", std::int64_t),
    MPIGAUGE_SPREAD("uint8", std::uint8_t),
    MPIGAUGE_SPREAD("uint16", std::uint16_t),
    MPIGAUGE_SPREAD("uint32", std::uint32_t),
    MPIGAUGE_SPREAD("uint64", std::uint64_t),
    MPIGAUGE_SPREAD("float16", Float16),
    MPIGAUGE_SPREAD("bfloat16", Bfloat16),
};

#undef MPIGAUGE_SPREAD
#undef MPIGAUGE_TYPE

const std::array op_table{
    Op{"sum", [] { return MPI_Op(MPI_SUM); }},
    Op{"prod", [] { return MPI_Op(MPI_PROD); }},
    Op{"max", [] { return MPI_Op(MPI_MAX); }},
    Op{"min", [] { return MPI_Op(MPI_MIN); }},
    Op{"land", [] { return MPI_Op(MPI_LAND); }},
    Op{"lor", [] { return MPI_Op(MPI_LOR); }},
    Op{"lxor", [] { return MPI_Op(MPI_LXOR); }},
    Op{"band", [] { return MPI_Op(MPI_BAND); }},
    Op{"bor", [] { return MPI_Op(MPI_BOR); }},
    Op{"bxor", [] { return MPI_Op(MPI_BXOR); }},
    Op{"maxloc", [] { return MPI_Op(MPI_MAXLOC); }},
    Op{"minloc", [] { return MPI_Op(MPI_MINLOC); }},
};

// Two periods and a tail, so that a period from any start is one copy.
const std::array<std::byte, 2 * byte_period>& byte_table() {
  static const auto made = [] {
    std::array<std::byte, 2 * byte_period> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(1 + i % byte_period);
    }
    return bytes;
  }();
  return made;
}

const std::byte* period_of(int rank, std::size_t first) {
  return byte_table().data() + (static_cast<std::size_t>(rank) * 37 + first) % byte_period;
}

template <class Table>
auto find_in(const Table& rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::span<const DataType> data_types() { return table; }
std::span<const Op> ops() { return op_table; }
const DataType* find_type(std::string_view name) { return find_in(table, name); }
const DataType* find_spread(std::string_view name) { return find_in(spread_table, name); }
const Op* find_op(std::string_view name) { return find_in(op_table, name); }

bool has_op(const DataType& type, std::string_view op) {
  return std::find(type.ops.begin(), type.ops.end(), op) != type.ops.end();
}

void fill_bytes(int rank, std::size_t first, std::span<std::byte> to) {
  const std::byte* period = period_of(rank, first);
  for (std::size_t done = 0; done < to.size(); done += byte_period) {
    std::memcpy(to.data() + done, period, std::min(byte_period, to.size() - done));
  }
}

std::size_t wrong_bytes(int rank, std::size_t first, std::span<const std::byte> got) {
  const std::byte* period = period_of(rank, first);
  std::size_t wrong = 0;
  for (std::size_t done = 0; done < got.size(); done += byte_period) {
    const std::size_t part = std::min(byte_period, got.size() - done);
    if (std::memcmp(got.data() + done, period, part) == 0) continue;
    for (std::size_t i = 0; i < part; ++i) wrong += got[done + i] != period[i] ? 1U : 0U;
  }
  return wrong;
}

std::vector<std::byte> reduced_period(const DataType& type, std::string_view op, int ranks) {
  std::vector<std::byte> all(pattern_period * type.bytes), one(all.size());
  type.fill(op, 0, 0, all.data(), pattern_period);
  for (int rank = 1; rank < ranks; ++rank) {
    type.fill(op, rank, 0, one.data(), pattern_period);
    type.combine(op, one.data(), all.data(), pattern_period);
  }
  return all;
}

// Whole periods by their bytes, since what is equal bit by bit is right; only where they differ by
// value, element by element.
std::size_t wrong_elements(const DataType& type, std::span<const std::byte> period,
                           std::size_t first, std::span<const std::byte> got) {
  std::size_t wrong = 0;
  const std::size_t count = got.size() / type.bytes;
  for (std::size_t done = 0; done < count;) {
    const std::size_t at = (first + done) % pattern_period;
    const std::size_t part = std::min(count - done, pattern_period - at);
    const std::byte* mine = got.data() + done * type.bytes;
    const std::byte* right = period.data() + at * type.bytes;
    done += part;
    if (std::memcmp(mine, right, part * type.bytes) == 0) continue;
    for (std::size_t i = 0; i < part; ++i) {
      wrong += type.same(mine + i * type.bytes, right + i * type.bytes) ? 0U : 1U;
    }
  }
  return wrong;
}

}  // namespace mpigauge
