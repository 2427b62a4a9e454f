// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_safetensors.h"

#include "trainer/apply/export_metadata.h"
#include "trainer/archive/safetensors.h"

namespace trainer::apply {

ExportReport export_safetensors(const Model& model, const std::filesystem::path& path) {
  archive::Safetensors content;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    for (const checkpoint::NamedTensor& weight : model.members[i].weights) {
      content.tensors.emplace_back(member_prefix(model, i) + weight.name, weight.tensor);
    }
  }
  content.metadata = export_metadata(model);
  content.metadata.insert(content.metadata.begin(), {"format", "pt"});  // whose layout tensors have
  archive::write_safetensors(path, content);
  return {.format = "safetensors",
          .inputs = {},
          .outputs = {},
          .checked = {"read back, identical byte for byte"}};
}

}  // namespace trainer::apply
