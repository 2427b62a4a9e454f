// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "config/bounds.h"
#include "config/field_makers.h"

namespace trainer::config {
namespace {

bool valid_delimiter(std::string_view text) {
  if (text.size() != 1) return false;
  const auto c = static_cast<unsigned char>(text.front());
  const bool could_be_a_number = std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+';
  return c < 0x80 && c != '"' && c != '\n' && c != '\r' && c != '\0' && !could_be_a_number;
}

bool valid_thousands(std::string_view text) {
  return text == "," || text == "." || text == "'" || text == "_" || text == " ";
}

bool valid_decimal(std::string_view text) { return text == "." || text == ","; }

// Keys that say which table is read and what is predicted.
std::vector<Field> table_fields() {
  return {
      choice(TRAINER_MEMBER(data.source),
             "Data source: synthetic (generated), a table at data.path (csv), IDX files (the "
             "format of MNIST), NumPy arrays, or a table that data.query selects. Without it, the "
             "one whose file or query is given: data.path, data.query, data.idx.train_images or "
             "data.npy.features; else synthetic."),
      file(TRAINER_MEMBER(data.path),
           "Table: a CSV file with a header, packed with gzip or zstd or not; a SQLite database "
           "with "
           "one table; or a Parquet (.parquet) or JSON (.json, .jsonl) file, which DuckDB reads.",
           {.aliases = {"data.file"}, .on_resume = OnResume::kMayChange}),
      text(TRAINER_MEMBER(data.query), "a SELECT", any_text,
           "SELECT statement of DuckDB whose result is the table: \"select * from "
           "'sales/*.parquet' where year > 2020\".",
           {.aliases = {"sql", "data.sql"}}),
      file(TRAINER_MEMBER(data.query_folder),
           "Folder where relative paths in data.query start. By default that of the file with "
           "data.query; on the command line, the working directory."),
      choice(TRAINER_MEMBER(data.query_files),
             "Files that data.query may read: any that you may, or only_named: those whose path or "
             "pattern stands in quotes in the query. For queries that somebody else wrote.",
             {.on_resume = OnResume::kMayChange}),
      folder_or({"auto", "off"}, TRAINER_MEMBER(data.cache),
                "Where a table of files is kept as it was read and encoded: the next run with the "
                "same files and keys begins at once, and its rows need not fit into memory. auto: "
                "in ~/.cache/trainer, for tables of 32 MiB or more without folds; off: nowhere.",
                {.on_resume = OnResume::kMayChange}),
      columns(TRAINER_MEMBER(data.target),
              "Column of the CSV file to predict; a list of columns for regression.",
              {.aliases = {"label_column", "data.label", "target_column"}}),
      choice(TRAINER_MEMBER(data.task),
             "What to predict. auto: classification if the target is text, has at most 20 distinct "
             "integer values, or has at most 100 that count from 0 or 1 without a gap and have "
             "five rows each on average; else regression."),
      text(
          TRAINER_MEMBER(data.positive), "a class", any_text,
          "The positive one of two classes: that of binary_f1, ROC and precision-recall curves and "
          "--threshold. By default the one that sorts last.",
          {.aliases = {"positive_class", "pos_label"}}),
  };
}

// Keys that describe the text of the table: delimiter, numbers, dates and missing values.
std::vector<Field> format_fields() {
  return {
      text_or(
          {"auto", "comma", "semicolon", "tab"}, TRAINER_MEMBER(data.delimiter), "one character",
          valid_delimiter,
          "Field delimiter of the CSV file. auto: tab for .tsv and .tab, else comma, or semicolon "
          "with data.decimal: \",\".",
          {.aliases = {"sep", "separator"}}),
      text(TRAINER_MEMBER(data.decimal), "\".\" or \",\"", valid_decimal,
           "Decimal mark of the numbers in the CSV file.", {.aliases = {"decimal_separator"}}),
      text_or({"none", "space"}, TRAINER_MEMBER(data.thousands), "one of , . ' _ or a blank",
              valid_thousands,
              "Mark between groups of three digits in the numbers of the CSV file: \",\" for "
              "1,325.26. Numbers without it are read as well.",
              {.aliases = {"thousands_separator", "grouping_mark"}}),
      texts(TRAINER_MEMBER(data.missing),
            "Texts (in any capitalization) and numbers in the CSV file that mean a missing value. "
            "An empty field is always missing.",
            {.aliases = {"na_values", "nan_values", "missing_values"}}),
      choice(TRAINER_MEMBER(data.date_order),
             "Order of day and month in dates such as 04/07/2023 or 07.04.2023; those that begin "
             "with the year are always known. auto: what fits all dates of the column; where both "
             "orders do, day first with points, else the column is dropped.",
             {.aliases = {"dayfirst"}}),
  };
}

// Keys that name columns which are not features.
std::vector<Field> role_fields() {
  return {
      columns(TRAINER_MEMBER(data.ignore),
              "Columns of the CSV file to drop: names, or patterns with * and ?. The lists below "
              "accept patterns too.",
              {.aliases = {"ignore_column", "drop_columns"}}),
      columns(TRAINER_MEMBER(data.id),
              "Columns that identify a row. They are not features, but are copied to predictions.",
              {.aliases = {"id_column", "index_col"}}),
      column(TRAINER_MEMBER(data.weight),
             "Column with the sample weight in the loss, in training and evaluation; other metrics "
             "are unweighted. Rows of weight 0 are left out. It is not a feature.",
             {.aliases = {"sample_weight", "weight_column"}}),
      choice(TRAINER_MEMBER(data.class_weights),
             "Class weights in the loss. balanced: all classes contribute equally, whatever their "
             "number of rows in the training split; multiplied by data.weight.",
             {.aliases = {"class_weight", "scale_pos_weight"}}),
  };
}

// Keys that decide how columns become features.
std::vector<Field> column_fields() {
  return {
      columns(TRAINER_MEMBER(data.numeric),
              "Numeric columns: text in them is an error. Columns in no list are numeric if they "
              "contain numbers.",
              {.aliases = {"numerical_columns", "num_cols"}}),
      columns(
          TRAINER_MEMBER(data.categorical),
          "Categorical columns; their values may be numbers. Each category of the training split "
          "becomes a 0/1 feature (one-hot), missing cells one more; columns with many categories "
          "are embedded (data.embed_above). Columns in no list are categorical if they contain "
          "text.",
          {.aliases = {"categorical_feature", "cat_features", "cat_cols"}}),
      integer_or_auto(TRAINER_MEMBER(data.max_categories), kAtLeast0,
                      "A text column with more distinct values is dropped, unless data.categorical "
                      "lists it. auto: a fifth of the rows that have a value (five rows per "
                      "category on average), but at least 10 and at most 10,000."),
      texts(TRAINER_MEMBER(data.dates),
            "Features of a column of dates (data.date_order, or of a type of dates), each a column "
            "NAME.PART: auto for all parts that vary in the training split, off for none, or a "
            "list of year, month, day_of_week (1 is Monday), hour and seconds (since 1970).",
            {.aliases = {"parse_dates", "date_features"}}),
      choice(TRAINER_MEMBER(data.binary),
             "Features of a categorical column with two categories: one_hot, or sign: one feature "
             "that is -1, 1, or 0 for missing and unknown values."),
      integer(TRAINER_MEMBER(data.embed_above), kAtLeast0,
              "Columns with more categories than this in the training split are embedded instead "
              "of one-hot encoded; missing and unknown values share one further embedding.",
              {.aliases = {"embedding_threshold", "one_hot_max_size"}}),
      integer_or_auto(TRAINER_MEMBER(data.embedding_size), kEmbedding,
                      "Size of the embeddings. auto: 1.6 * categories^0.56, rounded, at most 50.",
                      {.aliases = {"embedding_dim", "emb_szs"}}),
      choice(TRAINER_MEMBER(data.unknown_category),
             "How a category that does not occur in the training split is treated: as unknown (all "
             "features of the column are 0), or as an error.",
             {.aliases = {"handle_unknown"}}),
      choice(TRAINER_MEMBER(data.fill),
             "Imputation of missing numbers: mean or median of the column in the training split, "
             "the constant data.fill_value, or an error.",
             {.aliases = {"imputer", "impute", "fillna"}}),
      number(TRAINER_MEMBER(data.fill_value), {},
             "Value of missing numbers with data.fill: constant."),
      boolean(TRAINER_MEMBER(data.missing_indicator),
              "Whether a numeric column with missing values in the training split gets a missing "
              "indicator: a further feature that is 1 where the value is missing.",
              {.aliases = {"add_indicator"}}),
      boolean(TRAINER_MEMBER(data.drop_rows_without_target),
              "Whether rows without a target are dropped (true) or are an error (false).",
              {.aliases = {"dropna", "drop_missing_target"}}),
      choice(TRAINER_MEMBER(data.outliers),
             "What happens to values far from all others of their column: warn names them; clip "
             "limits them to the range of the others, in training and in predictions; ignore "
             "leaves them unchanged.",
             {.aliases = {"winsorize", "clip_outliers"}}),
  };
}

// Keys that decide which rows are for training, validation and test.
std::vector<Field> split_fields() {
  return {
      file(TRAINER_MEMBER(data.validation_path),
           "CSV file with the validation split, with the columns of data.path in any order. Then "
           "no rows of data.path are used for validation.",
           {.aliases = {"val_path", "valid_path"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.test_path), "CSV file with the test split, in the same way.",
           {.on_resume = OnResume::kMayChange}),
      integer_or_auto(
          TRAINER_MEMBER(data.shuffle_window), kAtLeast0,
          "Rows that are shuffled together. Larger training splits are shuffled in "
          "two levels: blocks of about 256 KiB, then the rows of each window of blocks, "
          "which are read ahead. auto: what 512 MiB hold, at most 2,097,152.",
          {.aliases = {"shuffle_buffer", "buffer_size"}}),
      choice(TRAINER_MEMBER(data.split),
             "How rows are split: at random, or chronologically by data.time: the latest rows are "
             "the test split, those before them the validation split.",
             {.aliases = {"shuffle", "split_method"}}),
      column(TRAINER_MEMBER(data.time),
             "Column of numbers or dates for data.split: chronological. It is not a feature "
             "unless data.numeric lists it.",
             {.aliases = {"time_column", "timestamp", "date_column"}}),
      column(
          TRAINER_MEMBER(data.split_column),
          "Column that assigns each row to a split: train, validation (or val) or test. It is not "
          "a feature.",
          {.aliases = {"fold_column"}}),
      column(TRAINER_MEMBER(data.group),
             "Group column: rows with the same value are always in the same split. It is not a "
             "feature.",
             {.aliases = {"groups", "group_column"}}),
      integer(TRAINER_MEMBER(data.folds), kFolds,
              "Number of cross-validation folds, stratified by class or by whole groups; replaces "
              "data.test_fraction. 0: off. trainer cv trains one run per fold.",
              {.aliases = {"n_splits", "cv"}}),
      integer(TRAINER_MEMBER(data.fold), kCount1, "Which of data.folds is the test split."),
      integer(TRAINER_MEMBER(data.repeat), kCount1,
              "Which assignment of rows to data.folds: each number gives a different one, with the "
              "same seed.",
              {.aliases = {"n_repeats"}}),
      integer(
          TRAINER_MEMBER(data.validation_folds), kFolds,
          "Number of folds of the rows that are not in the test split, one of which is the "
          "validation split; replaces data.validation_fraction. 0: off. trainer ensemble trains "
          "one member per fold."),
      integer(TRAINER_MEMBER(data.validation_fold), kCount1,
              "Which of data.validation_folds is the validation split."),
      choice(
          TRAINER_MEMBER(data.fit_on),
          "Rows from which categories, fills, scaling and the other numbers of the preprocessing "
          "are learned: the training split, that and the validation split, or all rows of the "
          "data. The members of an ensemble share them."),
  };
}

// Keys of sources other than tables, that is, IDX files, NumPy arrays and synthetic data.
std::vector<Field> source_fields() {
  return {
      file(TRAINER_MEMBER(data.idx.train_images), "IDX file, gzipped or not.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.train_labels), "IDX file, gzipped or not.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_images),
           "IDX file. Without it, data.test_fraction of the training images is the test split.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_labels), "IDX file; requires data.idx.test_images.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.features),
           ".npy file with the features: [n, features], or images [n, height, width] (any further "
           "dimensions are flattened).",
           {.aliases = {"x_train", "X"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.targets),
           ".npy file with the targets: [n], or [n, targets] for regression.",
           {.aliases = {"y_train"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.test_features),
           ".npy file. Without it, data.test_fraction of the rows is the test split.",
           {.aliases = {"x_test"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.npy.test_targets), ".npy file; requires data.npy.test_features.",
           {.aliases = {"y_test"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(data.synthetic.num_samples), kCount1, "Number of rows to generate.",
              {.aliases = {"n_samples"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_features), kWidth,
              "Number of features to generate.", {.aliases = {"input_dim"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_classes), kClasses,
              "Number of classes to generate."),
      number(TRAINER_MEMBER(data.synthetic.separation), kAtLeast0,
             "Distance of a class center from the origin along each feature, in standard "
             "deviations of the noise. 0: the features carry no information."),
  };
}

std::vector<Field> scaling_fields() {
  return {
      number(TRAINER_MEMBER(data.validation_fraction), kFraction,
             "Fraction of the rows for the validation split, stratified by class. 0: none.",
             {.aliases = {"val_size", "validation_split", "val_split"}}),
      number(TRAINER_MEMBER(data.test_fraction), kFraction,
             "Fraction of the rows for the test split, stratified by class. 0: none.",
             {.aliases = {"test_size", "test_split"}}),
      choice(TRAINER_MEMBER(data.scaling),
             "How numeric features are scaled, fitted on the training split: standard (mean 0, "
             "standard deviation 1), minmax (0 to 1), robust (median 0, interquartile range 1), "
             "quantile (quantile rank from -1 to 1, CSV files only), or quantile_normal (the rank "
             "as that quantile of the normal distribution, CSV files only).",
             {.aliases = {"normalize", "standardize", "QuantileTransformer"}}),
      boolean(TRAINER_MEMBER(data.scale_categories),
              "Whether the features of categorical columns that are not embedded are scaled (and "
              "clipped) like numeric ones."),
      number(TRAINER_MEMBER(data.smooth_clip), kAtLeast0,
             "Limit c of scaled features, which become x / sqrt(1 + (x/c)^2): nearly x if it is "
             "small, never beyond c. 0: none. RealMLP uses 3.",
             {.aliases = {"clip", "robust_scale_smooth_clip"}}),
      choice(TRAINER_MEMBER(data.target_scaling),
             "How regression targets are scaled for the model, with the same methods. The loss is "
             "in scaled units; other metrics and predictions are in the units of the file.",
             {.aliases = {"normalize_target", "target_transform"}}, kNumTargetScalings),
      boolean(TRAINER_MEMBER(data.clip_predictions),
              "Whether predictions of a regression are limited to the range of the targets in the "
              "training split; not in the loss."),
  };
}

}  // namespace

std::vector<Field> data_fields() {
  return concatenated({table_fields(), format_fields(), role_fields(), column_fields(),
                       split_fields(), source_fields(), scaling_fields()});
}

}  // namespace trainer::config
