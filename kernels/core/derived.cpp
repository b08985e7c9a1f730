// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/derived.hpp"

namespace mpigauge {

namespace {

// What MPI does not hand to the function of an operation.
struct Reduction {
  const DataType* type = nullptr;
  std::string_view op;
  std::size_t per_item = 1;
};
Reduction& current() {
  static Reduction reduction;
  return reduction;
}

// NOLINTNEXTLINE(misc-const-correctness,readability-non-const-parameter): MPI's signature
void combine_items(void* from, void* to, int* items, MPI_Datatype* /*type*/) {
  const Reduction& r = current();
  if (r.type == nullptr) return;
  r.type->combine(r.op, static_cast<const std::byte*>(from), static_cast<std::byte*>(to),
                  static_cast<std::size_t>(*items) * r.per_item);
}

}  // namespace

Derived::Derived(const DataType& type, const Op* op, Contiguity contiguity, std::size_t count)
    : type_(type.mpi()), count_(count) {
  if (is_vector(contiguity) && count > 0) {
    // A block for each element, so that nothing tells MPI beforehand that they are neighbours.
    call(MPI_Type_vector(static_cast<int>(count), 1, 1, type.mpi(), &type_));
    call(MPI_Type_commit(&type_));
    made_ = true;
    count_ = 1;
  }
  if (op == nullptr) return;
  current() = {&type, op->name, made_ ? count : 1};
  call(MPI_Op_create(combine_items, 1, &op_));
}

Derived::~Derived() {
  if (op_ != MPI_OP_NULL) MPI_Op_free(&op_);
  if (made_) MPI_Type_free(&type_);
}

}  // namespace mpigauge
