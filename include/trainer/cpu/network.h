// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/team.h"

namespace trainer::cpu {

/// A multilayer perceptron as model/mlp.h describes it.
struct NetworkOptions {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<int64_t> hidden_sizes;
  config::Activation activation = config::Activation::kRelu;
  double dropout = 0;
  config::Norm norm = config::Norm::kNone;
  bool residual = false;
};

/// A parameter and where its gradient goes; null where there is none, or where it is frozen.
struct ParameterMemory {
  const float* value = nullptr;
  float* gradient = nullptr;
};

/// The memory of one layer, which belongs to the model.
struct LayerMemory {
  ParameterMemory weight;  // [out, in]
  ParameterMemory bias;    // [out]
  ParameterMemory norm_weight;
  ParameterMemory norm_bias;
  float* running_mean = nullptr;
  float* running_var = nullptr;

  bool is_trained() const {
    return weight.gradient != nullptr || bias.gradient != nullptr ||
           norm_weight.gradient != nullptr || norm_bias.gradient != nullptr;
  }
};

enum class Pass { kTraining, kInference };

/// Forward and backward pass over memory that is allocated once. The functions are to be called by
/// all threads of the team, within Team::run, unless they say otherwise.
class Network {
 public:
  /// For batches of up to `max_rows`.
  Network(NetworkOptions options, std::vector<LayerMemory> layers, int64_t max_rows, Team& team,
          const Kernels& kernels);

  int64_t max_rows() const { return max_rows_; }

  /// The input of the next pass: rows `rows[0], ...` of `source`, and the noise of dropout for the
  /// training pass, in which the first row is the `first_row`-th of the step.
  void gather(int64_t thread, const GatherSource& source, const int64_t* rows, int64_t num_rows);
  void make_noise(int64_t thread, uint64_t seed, int64_t first_row, int64_t num_rows);

  /// All layers but the last.
  void forward(int64_t thread, int64_t num_rows, Pass pass);

  /// The outputs of some rows but for the last layer's bias, by one thread alone.
  LossInput compute_outputs(int64_t thread, int64_t first_row, int64_t num_rows);

  /// Gradients of the parameters from that of the outputs, which has taken their place.
  void backward(int64_t thread, int64_t num_rows, bool adds);

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
  Division divide(int64_t num_rows, int64_t num_columns, int64_t num_parts) const;
  Division divide_activations(std::size_t index, int64_t num_rows) const;
  static Part part_of(const Division& division, int64_t index, int64_t stride);

  bool is_hidden(std::size_t index) const { return index + 1 < layers_.size(); }
  bool uses_running_statistics(const Layer& layer, Pass pass) const;
  const float* input_of(std::size_t index) const;
  int64_t input_stride(std::size_t index) const;
  ActivationBuffers activation_buffers(std::size_t index, int64_t row, int64_t column,
                                       Pass pass) const;
  NormBuffers norm_buffers(const Layer& layer, int64_t row, int64_t column) const;
  NormGradientBuffers norm_gradient_buffers(const Layer& layer, int64_t row, int64_t column) const;

  void compute_tile(std::size_t index, const Part& part, Pass pass, float* scratch);
  void multiply_tile(std::size_t index, const Part& part, float* scratch);
  void finish_rows(std::size_t index, const Part& part, Pass pass);
  void backward_layer(int64_t thread, std::size_t index, int64_t num_rows, bool adds);
  void input_gradient(std::size_t index, const Part& part, bool adds, float* scratch);
  void weight_gradient(std::size_t index, const Part& part, int64_t num_rows, bool adds,
                       float* scratch);
  void layer_norm_gradient(int64_t thread, std::size_t index, int64_t num_rows, bool adds);

  NetworkOptions options_;
  int64_t max_rows_;
  Team& team_;
  const Kernels& kernels_;
  Buffer features_;
  int64_t features_stride_;
  std::vector<Layer> layers_;
  std::size_t first_trained_ = 0;  // no gradient is needed below this layer
  std::vector<Buffer> scratch_;    // of each thread
};

}  // namespace trainer::cpu
