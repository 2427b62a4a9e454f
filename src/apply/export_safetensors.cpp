// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_safetensors.h"

#include "trainer/apply/export_metadata.h"
#include "trainer/base/archive/safetensors.h"

namespace trainer::apply {

ExportReport export_safetensors(const Model& model, const std::filesystem::path& path) {
  archive::Safetensors content;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    for (const checkpoint::NamedTensor& weight : model.members[i].weights) {
      content.tensors.emplace_back(member_prefix(model, i) + weight.name, weight.tensor);
    }
  }
  content.metadata = export_metadata(model);
  // Tells loaders that the tensors have the layout of PyTorch.
  content.metadata.insert(content.metadata.begin(), {"format", "pt"});
  archive::write_safetensors(path, content);
  return {.format = "safetensors",
          .inputs = {},
          .outputs = {},
          .checked = {"read back, identical byte for byte"}};
}

}  // namespace trainer::apply
