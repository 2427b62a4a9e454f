// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/init.h"

#include <cstddef>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include "trainer/core/philox.h"

namespace trainer::model {
namespace {

void fill(at::Tensor& value, const network::Initializer& init, at::Generator& generator) {
  using Kind = network::Initializer::Kind;
  at::Tensor drawn = at::empty(value.sizes(), at::kFloat);
  switch (init.kind) {
    case Kind::kConstant:
      drawn.fill_(init.value);
      break;
    case Kind::kUniform:
      drawn.uniform_(-init.value, init.value, generator);
      break;
    case Kind::kNormal:
      drawn.normal_(0, init.value, generator);
      break;
  }
  if (init.last_row_zero) drawn.select(0, -1).zero_();
  value.copy_(drawn);
}

}  // namespace

void initialize(Network& network, uint64_t seed) {
  at::Generator generator =
      at::detail::createCPUGenerator(PhiloxStream(seed, StreamId::kInit).next_u64());
  const FlatParameters& flat = network.parameters();
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    at::Tensor value = parameter_view(flat, flat.values, i);
    fill(value, flat.specs[i].init, generator);
  }
}

}  // namespace trainer::model
