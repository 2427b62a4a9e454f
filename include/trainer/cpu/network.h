// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/core/function_ref.h"
#include "trainer/cpu/blocks.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/input_encoder.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/network_layer.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/row_sums.h"
#include "trainer/cpu/thread_team.h"
#include "trainer/cpu/tile_grid.h"
#include "trainer/network/spec.h"

namespace trainer::cpu {

using network::Mode;

inline constexpr int64_t kMaxLossRows = 256;  // rows of one call of a loss function; also the
                                              // most members of a network

/// Forward and backward pass over memory that is allocated once. All threads of the team call the
/// functions, within ThreadTeam::run(). Implemented in network*.cpp.
class Network {
 public:
  /// Turns the outputs of rows [first_row, ...) of the batch into losses and, in training, into
  /// their gradient. In training with several members, each row of the batch is a row of outputs
  /// for each of them. Called by one thread.
  using LossFunction = FunctionRef<void(int64_t first_row, const LossInput& input)>;

  /// For batches of up to `max_rows` in up to `max_shards` shards. `tensors` are those of
  /// network::tensors(spec), in that order. `precision`: fp32, or bf16 of the operands of linear
  /// layers. Throws Error(kUsage) for a network that the kernels do not compute.
  Network(const network::NetworkSpec& spec, std::span<const TensorMemory> tensors, int64_t max_rows,
          int64_t max_shards, ThreadTeam& team, const Kernels& kernels,
          config::Precision precision = config::Precision::kFp32);

  int64_t max_rows() const { return max_rows_; }
  /// Bytes of activations, of their gradients and of what the threads need.
  int64_t memory_bytes() const;

  /// Calls `loss` for all rows of the batch, and `last` once when all losses are known.
  void infer(int64_t thread, const NetworkBatch& batch, LossFunction loss,
             FunctionRef<void()> last);

  /// The same in training mode, then the backward pass that parameter_gradients() needs.
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
  int64_t num_gradient_columns() const {  // of the encoder's values
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
  /// Without `sums`: inference.
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
  // A batch norm whose rows are in several shards.
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

  int64_t max_rows_;  // of a batch
  int64_t max_shards_;
  ThreadTeam& team_;
  const Kernels& kernels_;
  decltype(Kernels::multiply) multiply_;  // in the precision of the network
  uint32_t pass_ = 2;                     // SharedPanels::pass
  InputEncoder encoder_;
  std::vector<Layer> layers_;
  int64_t num_members_;
  network::Mean mean_;
  TensorMemory output_scale_;
  Buffer combined_;  // [max_rows, num_outputs] of several members, strided as the last layer
  Buffer no_bias_;   // [num_outputs]
  bool has_batch_norm_ = false;
  bool has_layer_norm_ = false;
  std::size_t first_trained_ = 0;  // no gradient is needed below this layer
  std::vector<Buffer> scratch_;    // of each thread
};

}  // namespace trainer::cpu
