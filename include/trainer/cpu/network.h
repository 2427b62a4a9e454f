// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/core/function_ref.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/network_options.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/team.h"

namespace trainer::cpu {

/// Forward and backward pass over memory that is allocated once. The functions are called by all
/// threads of the team, within Team::run.
class Network {
 public:
  /// Turns outputs into losses and, in training, into their gradient; for rows [first_row, ...) of
  /// the batch, by one thread.
  using Loss = FunctionRef<void(int64_t first_row, const LossInput& input)>;

  /// For batches of up to `max_rows`.
  Network(const NetworkOptions& options, const NetworkMemory& memory, int64_t max_rows, Team& team,
          const Kernels& kernels);

  int64_t max_rows() const { return max_rows_; }

  /// Calls `loss` for all rows of the batch; where it is for training, adds up what
  /// parameter_gradients() needs. `last` is called once, when all losses are known.
  void pass(int64_t thread, const NetworkBatch& batch, Pass pass, bool adds, Loss loss,
            FunctionRef<void()> last);

  /// The gradients of the parameters, added to what they were or in place of it.
  void parameter_gradients(int64_t thread, int64_t num_rows, bool adds);

 private:
  /// A layer's memory of the pass. What lies in tiles has `stride` between its rows.
  struct Layer {
    LayerMemory memory;
    int64_t num_inputs = 0;
    int64_t num_outputs = 0;
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
  struct Table {
    ParameterMemory memory;
    Embedding shape;
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

  Layer make_layer(std::size_t index, const LayerMemory& memory) const;
  Division divide(int64_t num_rows, int64_t num_columns, int64_t depth) const;
  static Part part_of(const Division& division, int64_t index, int64_t stride);

  bool is_hidden(std::size_t index) const { return index + 1 < layers_.size(); }
  bool goes_by_rows(int64_t num_rows) const;
  bool uses_running_statistics(const Layer& layer, Pass pass) const;
  float* scratch(int64_t thread) const { return scratch_[static_cast<std::size_t>(thread)].get(); }
  const float* input_of(std::size_t index) const;
  int64_t input_stride(std::size_t index) const;
  ActivationBuffers activation_buffers(std::size_t index, const Part& part, Pass pass) const;
  NormBuffers norm_buffers(const Layer& layer, const Part& part) const;
  NormGradientBuffers norm_gradient_buffers(const Layer& layer, const Part& part) const;

  void fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Pass pass);
  void pass_by_rows(int64_t thread, const NetworkBatch& batch, Pass pass, Loss loss,
                    FunctionRef<void()> last);
  void pass_by_columns(int64_t thread, const NetworkBatch& batch, Pass pass, bool adds, Loss loss,
                       FunctionRef<void()> last);
  template <class Body>
  void for_each_column_part(std::size_t index, int64_t row, int64_t num_rows, const Body& body);

  void multiply(std::size_t index, const Part& part, float* scratch);
  void compute(std::size_t index, const Part& part, Pass pass, float* scratch);
  LossInput compute_outputs(int64_t row, int64_t num_rows, float* scratch);
  void input_gradient(std::size_t index, const Part& part, bool adds, float* scratch);
  void batch_norm_gradient(const Layer& layer, const Part& part, bool adds);
  void weight_gradient(std::size_t index, const Part& part, int64_t num_rows, bool adds,
                       float* scratch);
  void column_gradients(const Layer& layer, int64_t column, int64_t num_rows, bool adds) const;

  bool trains_tables() const { return embedded_gradient_.get() != nullptr; }
  void make_tables(const std::vector<ParameterMemory>& memory);
  void look_up(int64_t row, int64_t num_rows);
  void embedded_gradient(const Part& part, float* scratch);
  int64_t num_table_parts(const Table& table) const;
  void table_gradient(const Table& table, int64_t part, int64_t num_rows, bool adds) const;

  NetworkOptions options_;
  int64_t max_rows_;
  Team& team_;
  const Kernels& kernels_;
  Buffer features_;  // as the first layer takes them
  int64_t features_stride_;
  std::vector<Table> tables_;
  Buffer embedded_gradient_;  // with respect to what is looked up, if a table is trained
  int64_t embedded_stride_ = 0;
  std::vector<Layer> layers_;
  std::size_t first_trained_ = 0;  // no gradient is needed below this layer
  std::vector<Buffer> scratch_;    // of each thread
};

}  // namespace trainer::cpu
