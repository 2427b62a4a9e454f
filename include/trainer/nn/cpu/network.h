// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/base/function_ref.h"
#include "trainer/config/types.h"
#include "trainer/nn/cpu/blocks.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/input_encoder.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/cpu/row_sums.h"
#include "trainer/nn/cpu/thread_team.h"
#include "trainer/nn/spec/spec.h"

namespace trainer::cpu {

/// The samples of a step that go through the network together.
struct NetworkBatch {
  GatherSource source;
  const int64_t* rows = nullptr;  // [num_rows] indices of rows of the source
  int64_t num_rows = 0;
  uint64_t dropout_seed = 0;
  double dropout_factor = 1;  // multiplies the dropout probabilities of all layers
  /// Index of the batch's first row within the step, for the dropout noise.
  int64_t first_row = 0;
};

/// The packed weights of a layer for the products of the forward or of the backward pass, shared by
/// the threads of a pass. Empty if they are not shared.
struct WeightPanels {
  Buffer memory;
  std::unique_ptr<uint32_t[]> states;  // [members, depth blocks, panels]
  int64_t num_depth_blocks = 0;
  int64_t num_panels = 0;
};

/// What a thread needs to compute products in a pass.
struct Worker {
  float* scratch = nullptr;
  int64_t thread = 0;
  bool shares_panels = false;  // packed weights are shared with threads that compute other rows
};

/// A block and its activations and gradients in a pass. The rows of the matrices are `stride`
/// floats apart. Each row of the batch has one row per member, next to each other.
struct NetworkLayer {
  Block block;
  int64_t stride = 0;
  /// Output of the linear layer without bias; with a norm, the normalized values.
  Buffer pre;
  Buffer out;                        // hidden layers only, as all below down to normed_gradient
  Buffer noise;                      // dropout factors of the activations
  Buffer mix_gradients;              // terms of the gradient of a trained parametric activation
  Buffer inverse_std;                // reciprocal standard deviations of the norm
  std::vector<double> subtree_sums;  // [subtrees, 2, num_outputs] for a batch norm in shards
  std::vector<double> batch_sums;    // [2, num_outputs]
  Buffer gradients;                  // memory of the three gradients below, which may be the same
  float* out_gradient = nullptr;     // with respect to `out`
  float* normed_gradient = nullptr;  // with respect to the activation's input
  float* pre_gradient = nullptr;     // with respect to the output of the linear layer
  WeightPanels panels;               // packed weights for the forward pass
  WeightPanels gradient_panels;      // packed weights for the backward pass

  /// The size of all buffers, in floats.
  int64_t num_floats() const {
    return pre.size() + out.size() + noise.size() + mix_gradients.size() + inverse_std.size() +
           gradients.size() + panels.memory.size() + gradient_panels.memory.size();
  }
};

/// The rows [begin, begin + count) of a pass.
struct RowRange {
  int64_t begin = 0;
  int64_t count = 0;
};

/// The rows of a shard in a pass.
inline RowRange rows_of_shard(const RowSums& sums, int64_t shard) {
  return {.begin = sums.border(shard), .count = sums.border(shard + 1) - sums.border(shard)};
}

/// The destination of a tile: memory with rows `stride` floats apart.
struct TileMemory {
  float* values = nullptr;
  int64_t stride = 0;
};

using network::Mode;

/// The most rows per call of a loss function; also the most members of a network.
inline constexpr int64_t kMaxLossRows = 256;

/// The forward and backward pass of a network, in memory that is allocated once. All threads of the
/// team call infer(), train() and parameter_gradients() together, within ThreadTeam::run().
/// Implemented in network*.cpp.
class Network {
 public:
  /// Computes the losses of the rows of the batch from `first_row` on and, in training, overwrites
  /// the outputs with their gradient. In training with several members, `input` has one row per row
  /// of the batch and member. Each call is made by one thread, but several threads may call at
  /// once.
  using LossFunction = FunctionRef<void(int64_t first_row, const LossInput& input)>;

  /// Allocates memory for batches of up to `max_rows` rows in up to `max_shards` shards. `tensors`
  /// has an entry for each tensor of network::tensors(spec), in that order. With the precision
  /// bf16, the operands of linear layers are rounded to bf16. Throws Error(kUsage) for a network
  /// that the kernels do not support.
  Network(const network::NetworkSpec& spec, std::span<const TensorMemory> tensors, int64_t max_rows,
          int64_t max_shards, ThreadTeam& team, const Kernels& kernels,
          config::Precision precision = config::Precision::kFp32);

  int64_t max_rows() const { return max_rows_; }
  /// The bytes of all activations, their gradients and the scratch memory of the threads.
  int64_t memory_bytes() const;

  /// Runs the forward pass in inference mode. Calls `loss` for all rows of the batch, and then
  /// `last` once, from one thread, when all losses are known.
  void infer(int64_t thread, const NetworkBatch& batch, LossFunction loss,
             FunctionRef<void()> last);

  /// Runs the forward pass in training mode, with the same calls, and the backward pass down to the
  /// inputs of the layers, which parameter_gradients() needs.
  void train(int64_t thread, const NetworkBatch& batch, const RowSums& sums, LossFunction loss,
             FunctionRef<void()> last);

  /// Computes the gradients of the parameters for the rows of the last train().
  void parameter_gradients(int64_t thread, const RowSums& sums);

 private:
  Network(const Blocks& blocks, int64_t num_features, int64_t max_rows, int64_t max_shards,
          ThreadTeam& team, const Kernels& kernels, config::Precision precision);

  using Layer = NetworkLayer;
  Layer make_layer(const Block& block, bool is_hidden) const;
  TileGrid make_grid(int64_t num_rows, int64_t num_columns, int64_t depth) const;

  bool is_hidden(std::size_t index) const { return index + 1 < layers_.size(); }
  bool is_row_parallel(int64_t num_rows) const;
  int64_t num_gradient_columns() const {  // of the gradient with respect to the encoder's values
    return layers_.front().block.num_inputs - encoder_.gradient_column();
  }
  float* scratch(int64_t thread) const { return scratch_[static_cast<std::size_t>(thread)].get(); }
  float* tree(int64_t thread) const { return scratch(thread) + kernels_.scratch_floats; }
  const float* layer_input(std::size_t index) const;
  int64_t input_stride(std::size_t index) const;
  ActivationBuffers activation_buffers(std::size_t index, const Region& region, Mode mode) const;
  NormBuffers norm_buffers(const Layer& layer, const Region& region) const;
  NormGradientBuffers norm_gradient_buffers(const Layer& layer, const Region& region) const;
  void fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Mode mode);
  /// Without `sums` the pass is in inference mode.
  void run(int64_t thread, const NetworkBatch& batch, const RowSums* sums, LossFunction loss,
           FunctionRef<void()> last);
  void run_row_parallel(int64_t thread, const NetworkBatch& batch, Mode mode, LossFunction loss,
                        FunctionRef<void()> last);
  void run_layer_parallel(int64_t thread, const NetworkBatch& batch, const RowSums* sums,
                          LossFunction loss, FunctionRef<void()> last);
  TileGrid layer_grid(std::size_t index, int64_t num_rows) const;
  void compute_layer(int64_t thread, std::size_t index, int64_t num_rows, const RowSums* sums);
  void compute_gradient_below(int64_t thread, std::size_t index, int64_t num_rows,
                              const RowSums& sums);
  template <class Body>
  void for_each_column_range(std::size_t index, int64_t row, int64_t num_rows, const Body& body);

  void make_panels(config::Precision precision);
  SharedPanels shared_panels(const WeightPanels& panels, int64_t member, int64_t column,
                             int64_t num_columns, const Worker& worker) const;
  void multiply(std::size_t index, const Region& region, const Worker& worker);
  void compute(std::size_t index, const Region& region, Mode mode, const Worker& worker);
  void activate(std::size_t index, const Region& region, Mode mode);
  LossInput compute_outputs(int64_t row, int64_t num_rows, Mode mode, const Worker& worker);
  LossInput combine(const LossInput& members, int64_t row);
  void multiply_gradient(const Layer& layer, const Region& region, int64_t column, float* out,
                         int64_t out_stride, Accumulate accumulate, const Worker& worker) const;
  void activation_gradient(std::size_t index, const Region& region, const Worker& worker);
  void norm_gradient(std::size_t index, const Region& region, const RowSums* sums);
  // For a batch norm whose rows are in several shards:
  bool is_in_shards(const Layer& layer, const RowSums* sums) const;
  void shard_moments(Layer& layer, const RowSums& sums, const Region& region) const;
  void merge_moments(Layer& layer, const RowSums& sums) const;
  void shard_gradient_sums(Layer& layer, const RowSums& sums, const Region& region) const;
  void merge_gradient_sums(Layer& layer, const RowSums& sums) const;
  Region shard_region(const RowSums& sums, int64_t shard, const Region& region) const;
  TileGrid weight_grid(std::size_t index, const RowSums& sums) const;
  int64_t num_weight_tasks(std::size_t index, const RowSums& sums) const;
  void other_task(int64_t task, const RowSums& sums, int64_t thread) const;
  void weight_task(std::size_t index, int64_t task, const RowSums& sums, int64_t thread) const;
  void weight_gradient(std::size_t index, int64_t member, const Region& region, const RowSums& sums,
                       int64_t thread) const;
  void weight_gradient_of_rows(std::size_t index, int64_t member, const Region& region,
                               const RowRange& rows, const TileMemory& out, Accumulate accumulate,
                               float* scratch) const;
  void column_gradients(const Layer& layer, int64_t member, int64_t column, const RowSums& sums,
                        float* tree) const;
  void batch_norm_gradient(const Layer& layer, const Region& region, const RowSums& sums) const;
  void encoder_gradient(const Region& region, const Worker& worker);

  int64_t max_rows_;  // the most rows of a batch
  int64_t max_shards_;
  ThreadTeam& team_;
  const Kernels& kernels_;
  decltype(Kernels::multiply) multiply_;  // the product in the precision of the network
  uint32_t pass_ = 2;                     // even and increasing; see SharedPanels::pass
  InputEncoder encoder_;
  std::vector<Layer> layers_;
  int64_t num_members_;
  network::Mean mean_;
  TensorMemory output_scale_;
  /// [max_rows, num_outputs] outputs combined over several members, with the stride of the last
  /// layer.
  Buffer combined_;
  Buffer no_bias_;  // [num_outputs] zeros, for outputs that have their bias already
  bool has_batch_norm_ = false;
  bool has_layer_norm_ = false;
  std::size_t first_trained_ = 0;  // no gradient is needed below this layer
  std::vector<Buffer> scratch_;    // one per thread
};

}  // namespace trainer::cpu
