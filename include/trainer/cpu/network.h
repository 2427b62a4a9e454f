// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/core/function_ref.h"
#include "trainer/cpu/blocks.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/team.h"
#include "trainer/network/spec.h"

namespace trainer::cpu {

using network::Mode;

/// Samples of a step that go through the network together.
struct NetworkBatch {
  GatherSource source;
  const int64_t* rows = nullptr;  // [num_rows] of the source
  int64_t num_rows = 0;
  uint64_t dropout_seed = 0;
  int64_t first_row = 0;  // of this batch within the step
};

inline constexpr int64_t kMostRowsAtOnce = 256;  // of which a loss is taken

/// Forward and backward pass over memory that is allocated once. The functions are called by all
/// threads of the team, within Team::run.
class Network {
 public:
  /// Turns outputs into losses and, in training, into their gradient; for rows [first_row, ...) of
  /// the batch, by one thread.
  using Loss = FunctionRef<void(int64_t first_row, const LossInput& input)>;

  /// For batches of up to `max_rows`. `tensors` are those of network::tensors(spec), in that order.
  /// Throws Error(kUsage) for a network that the kernels do not compute.
  Network(const network::NetworkSpec& spec, std::span<const TensorMemory> tensors, int64_t max_rows,
          Team& team, const Kernels& kernels);

  int64_t max_rows() const { return max_rows_; }

  /// Calls `loss` for all rows of the batch; where it is for training, adds up what
  /// parameter_gradients() needs. `last` is called once, when all losses are known.
  void pass(int64_t thread, const NetworkBatch& batch, Mode mode, bool adds, Loss loss,
            FunctionRef<void()> last);

  /// The gradients of the parameters, added to what they were or in place of it.
  void parameter_gradients(int64_t thread, int64_t num_rows, bool adds);

 private:
  /// A block and its memory of the pass. What lies in tiles has `stride` between its rows.
  struct Layer {
    Block block;
    int64_t stride = 0;
    Buffer pre;          // products of the linear part; behind a norm the normalised values
    Buffer out;          // hidden layers only, as all below
    Buffer noise;        // of dropout
    Buffer inverse_std;  // of the norm
    Buffer gradients;    // room for the three below, as far as they differ
    float* out_gradient = nullptr;     // with respect to `out`
    float* normed_gradient = nullptr;  // to the activation's input
    float* pre_gradient = nullptr;     // to the linear part
  };

  /// An embedding's memory of the pass.
  struct Lookup {
    Table table;
    int64_t column = 0;         // of the first layer's input
    std::vector<int64_t> rows;  // [max_rows] that the batch takes
  };

  /// A matrix cut into tiles, which threads share.
  struct Division {
    int64_t num_rows = 0;
    int64_t num_columns = 0;
    int64_t row_step = 1;
    int64_t column_step = 1;
    int64_t num_row_parts = 0;
    int64_t num_column_parts = 0;
    int64_t count() const { return num_row_parts * num_column_parts; }
  };

  /// One tile of a division, `tile.stride` set to that of the matrix.
  struct Part {
    int64_t row = 0;
    int64_t column = 0;
    Tile tile;
  };

  Layer make_layer(const Block& block, bool is_hidden) const;
  Division divide(int64_t num_rows, int64_t num_columns, int64_t depth) const;
  static Part part_of(const Division& division, int64_t index, int64_t stride);

  bool is_hidden(std::size_t index) const { return index + 1 < layers_.size(); }
  bool trains_tables() const { return embedded_gradient_.get() != nullptr; }
  bool goes_by_rows(int64_t num_rows) const;
  float* scratch(int64_t thread) const { return scratch_[static_cast<std::size_t>(thread)].get(); }
  const float* input_of(std::size_t index) const;
  int64_t input_stride(std::size_t index) const;
  ActivationBuffers activation_buffers(std::size_t index, const Part& part, Mode mode) const;
  NormBuffers norm_buffers(const Layer& layer, const Part& part) const;
  NormGradientBuffers norm_gradient_buffers(const Layer& layer, const Part& part) const;

  void fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Mode mode);
  void pass_by_rows(int64_t thread, const NetworkBatch& batch, Mode mode, Loss loss,
                    FunctionRef<void()> last);
  void pass_by_columns(int64_t thread, const NetworkBatch& batch, Mode mode, bool adds, Loss loss,
                       FunctionRef<void()> last);
  template <class Body>
  void for_each_column_part(std::size_t index, int64_t row, int64_t num_rows, const Body& body);

  void multiply(std::size_t index, const Part& part, float* scratch);
  void compute(std::size_t index, const Part& part, Mode mode, float* scratch);
  LossInput compute_outputs(int64_t row, int64_t num_rows, float* scratch);
  void input_gradient(std::size_t index, const Part& part, bool adds, float* scratch);
  void batch_norm_gradient(const Layer& layer, const Part& part, bool adds);
  void weight_gradient(std::size_t index, const Part& part, int64_t num_rows, bool adds,
                       float* scratch);
  void column_gradients(const Layer& layer, int64_t column, int64_t num_rows, bool adds) const;

  void make_lookups(const std::vector<Table>& tables);
  void look_up(int64_t row, int64_t num_rows);
  void embedded_gradient(const Part& part, float* scratch);
  int64_t num_table_parts(const Lookup& lookup) const;
  void table_gradient(const Lookup& lookup, int64_t part, int64_t num_rows, bool adds) const;

  int64_t num_features_;
  int64_t num_numeric_;       // features that are no index of a table
  int64_t num_embedded_ = 0;  // values that are looked up, of all tables
  int64_t max_rows_;
  Team& team_;
  const Kernels& kernels_;
  Buffer features_;  // as the first layer takes them
  int64_t features_stride_ = 0;
  std::vector<Lookup> lookups_;
  Buffer embedded_gradient_;  // with respect to what is looked up, if a table is trained
  int64_t embedded_stride_ = 0;
  std::vector<Layer> layers_;
  bool has_batch_norm_ = false;
  bool has_layer_norm_ = false;
  std::size_t first_trained_ = 0;  // no gradient is needed below this layer
  std::vector<Buffer> scratch_;    // of each thread
};

}  // namespace trainer::cpu
