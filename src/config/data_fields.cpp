// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "config/field_makers.h"

namespace trainer::config {
namespace {

bool valid_delimiter(std::string_view text) {
  if (text == "auto" || text == "comma" || text == "semicolon" || text == "tab") return true;
  if (text.size() != 1) return false;
  const auto c = static_cast<unsigned char>(text.front());
  const bool could_be_a_number = std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+';
  return c < 0x80 && c != '"' && c != '\n' && c != '\r' && c != '\0' && !could_be_a_number;
}

bool valid_decimal(std::string_view text) { return text == "." || text == ","; }

}  // namespace

std::vector<Field> data_fields() {
  return {
      choice(TRAINER_MEMBER(data.source),
             "Kind of the data: made on the spot, a CSV table, IDX files (the format of MNIST), or "
             "arrays of NumPy."),
      file(TRAINER_MEMBER(data.path), "CSV file with a header.",
           {.aliases = {"data.file"}, .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(data.target),
            "Column of the CSV file that is to be predicted; a list of columns for regression.",
            {.aliases = {"label_column", "data.label", "target_column"}}),
      choice(TRAINER_MEMBER(data.task),
             "What is predicted. auto: classification when the target holds text, at most 20 "
             "different whole numbers, or at most 100 that count from 0 or 1 without a gap and "
             "have five rows each on average; else regression."),
      text(TRAINER_MEMBER(data.delimiter), "auto, comma, semicolon, tab or one character",
           valid_delimiter,
           "Between the fields of the CSV file. auto: tab for .tsv and .tab, else comma, or "
           "semicolon with data.decimal: \",\".",
           {.aliases = {"sep", "separator"}}),
      text(TRAINER_MEMBER(data.decimal), "\".\" or \",\"", valid_decimal,
           "Decimal mark of the numbers in the CSV file, which have nothing between thousands.",
           {.aliases = {"decimal_separator"}}),
      texts(TRAINER_MEMBER(data.missing),
            "Texts and numbers of the CSV file that stand for a missing value, in any capitals. "
            "An empty field always does.",
            {.aliases = {"na_values", "nan_values", "missing_values"}}),
      texts(TRAINER_MEMBER(data.ignore),
            "Columns of the CSV file that are left out: names, or patterns with * and ?. So are "
            "the lists below.",
            {.aliases = {"ignore_column", "drop_columns"}}),
      texts(TRAINER_MEMBER(data.id),
            "Columns that name a row. They are no features; the checkpoint remembers them.",
            {.aliases = {"id_column", "index_col"}}),
      text(TRAINER_MEMBER(data.weight), "a column name", any_text,
           "Column that says how much a row counts in the loss, of training and of evaluations; "
           "other metrics count rows. It is no feature.",
           {.aliases = {"sample_weight", "weight_column"}}),
      choice(TRAINER_MEMBER(data.class_weights),
             "How much the rows of a class count in the loss. balanced: all classes alike, however "
             "many rows they have in the training part; data.weight counts on top of it.",
             {.aliases = {"class_weight", "scale_pos_weight"}}),
      texts(TRAINER_MEMBER(data.numeric),
            "Columns that are numbers: text in them is an error. Columns in no list are numeric "
            "when they hold numbers.",
            {.aliases = {"numerical_columns", "num_cols"}}),
      texts(TRAINER_MEMBER(data.categorical),
            "Columns that hold categories, numbers among them. Each category of the training part "
            "becomes a feature that is 1 or 0, and missing cells one more, unless there are many "
            "(data.embed_above). Columns in no list are categorical when they hold text.",
            {.aliases = {"categorical_feature", "cat_features", "cat_cols"}}),
      integer_or_auto(TRAINER_MEMBER(data.max_categories), kAtLeast0,
                      "A column of text with more different values is left out, unless "
                      "data.categorical lists it. auto: a fifth of the rows that have a value, so "
                      "that categories have five rows each on average, but at least 10 and at most "
                      "10,000."),
      integer(TRAINER_MEMBER(data.embed_above), kAtLeast0,
              "A categorical column with more categories in the training part is no features of 1 "
              "and 0: the model learns some numbers for each category (an embedding), and for what "
              "is missing or unknown.",
              {.aliases = {"embedding_threshold", "one_hot_max_size"}}),
      integer_or_auto(TRAINER_MEMBER(data.embedding_size), kEmbedding,
                      "How many numbers are learned for each category of such a column. auto: 1.6 "
                      "* categories^0.56, rounded, at most 50.",
                      {.aliases = {"embedding_dim", "emb_szs"}}),
      choice(TRAINER_MEMBER(data.unknown_category),
             "What a category means that the training part lacks: none of the known ones (all "
             "features of the column are 0), or an error.",
             {.aliases = {"handle_unknown"}}),
      choice(TRAINER_MEMBER(data.fill),
             "What takes the place of a missing number: mean or median of the column in the "
             "training part, data.fill_value, or nothing: it is an error.",
             {.aliases = {"imputer", "impute", "fillna"}}),
      number(TRAINER_MEMBER(data.fill_value), {},
             "Takes the place of missing numbers with data.fill: constant."),
      boolean(TRAINER_MEMBER(data.missing_indicator),
              "Whether a numeric column with missing values in the training part gets a further "
              "feature that is 1 where the value is missing.",
              {.aliases = {"add_indicator"}}),
      boolean(TRAINER_MEMBER(data.drop_rows_without_target),
              "Whether rows whose target is missing are left out (true) or are an error (false).",
              {.aliases = {"dropna", "drop_missing_target"}}),
      choice(TRAINER_MEMBER(data.outliers),
             "Numbers that are far from all others of their column: named in a warning; limited "
             "to the range of the others, as in training so in predictions; or left alone.",
             {.aliases = {"winsorize", "clip_outliers"}}),
      file(TRAINER_MEMBER(data.validation_path),
           "CSV file of the validation part, with the columns of data.path in any order. Then "
           "data.path is not divided for it.",
           {.aliases = {"val_path", "valid_path"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.test_path), "The same for the test part.",
           {.on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(data.split),
             "How rows are divided by the fractions: at random, or by data.time: the latest rows "
             "are the test part, those before them the validation part.",
             {.aliases = {"shuffle", "split_method"}}),
      text(TRAINER_MEMBER(data.time), "a column name", any_text,
           "Column of numbers or ISO 8601 dates that data.split: chronological goes by. It is no "
           "feature unless data.numeric lists it.",
           {.aliases = {"time_column", "timestamp", "date_column"}}),
      text(TRAINER_MEMBER(data.split_column), "a column name", any_text,
           "Column that says of each row which part it belongs to: train, validation (or val) or "
           "test. It is no feature.",
           {.aliases = {"fold_column"}}),
      text(TRAINER_MEMBER(data.group), "a column name", any_text,
           "Column whose equal values belong together: rows of one group are never in two parts. "
           "It is no feature.",
           {.aliases = {"groups", "group_column"}}),
      integer(TRAINER_MEMBER(data.folds), kFolds,
              "Divides the rows into so many parts that are tested in turn, with the proportions "
              "of the classes and whole groups; in place of data.test_fraction. 0: does not. "
              "trainer cv trains one run for each fold.",
              {.aliases = {"n_splits", "cv"}}),
      integer(TRAINER_MEMBER(data.fold), kCount1, "Which of data.folds is the test part."),
      integer(TRAINER_MEMBER(data.repeat), kCount1,
              "Which division into data.folds: each number is another one, with the same seed.",
              {.aliases = {"n_repeats"}}),
      file(TRAINER_MEMBER(data.idx.train_images), "IDX file, gzipped or plain.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.train_labels), "IDX file, gzipped or plain.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_images),
           "IDX file. Without it, data.test_fraction of the training images is the test part.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_labels), "IDX file; goes with data.idx.test_images.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.features),
           ".npy file of the features: [n, features], or images [n, height, width] and the like, "
           "whose elements become features.",
           {.aliases = {"x_train", "X"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.targets),
           ".npy file of the targets: [n], or [n, targets] for regression.",
           {.aliases = {"y_train"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.test_features),
           ".npy file. Without it, data.test_fraction of the rows is the test part.",
           {.aliases = {"x_test"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.test_targets), ".npy file; goes with data.npy.test_features.",
           {.aliases = {"y_test"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(data.synthetic.num_samples), kCount1, "Rows to make.",
              {.aliases = {"n_samples"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_features), kWidth, "Columns to make.",
              {.aliases = {"input_dim"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_classes), kClasses, "Classes to make."),
      number(TRAINER_MEMBER(data.synthetic.separation), kAtLeast0,
             "Distance of a class centre from the origin along each feature, in standard "
             "deviations of the noise. 0: nothing can be learnt."),
      number(TRAINER_MEMBER(data.validation_fraction), kFraction,
             "Part of the rows for validation, with the proportions of the classes. 0: none.",
             {.aliases = {"val_size", "validation_split", "val_split"}}),
      number(TRAINER_MEMBER(data.test_fraction), kFraction,
             "Part of the rows for the final test, with the proportions of the classes. 0: none.",
             {.aliases = {"test_size", "test_split"}}),
      choice(
          TRAINER_MEMBER(data.scaling),
          "How numeric features are scaled, fitted on the training part: to mean 0 and standard "
          "deviation 1; to 0 .. 1; to median 0 and distance 1 between the quartiles; or to their "
          "place in the order of the training part, from -1 to 1 (CSV files only).",
          {.aliases = {"normalize", "standardize", "QuantileTransformer"}}),
      choice(TRAINER_MEMBER(data.target_scaling),
             "How the targets of a regression are scaled for the model, in the same ways. The loss "
             "is that of scaled targets; other metrics and predictions are in the units of the "
             "file.",
             {.aliases = {"normalize_target", "target_transform"}}, kNumTargetScalings),
  };
}

}  // namespace trainer::config
