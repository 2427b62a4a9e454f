// SPDX-License-Identifier: Apache-2.0
#include "config/field_makers.h"

namespace trainer::config {

std::vector<Field> data_fields() {
  return {
      choice(
          TRAINER_MEMBER(data.source), {"synthetic", "csv", "idx"},
          "Kind of the data: made on the spot, a CSV table, or IDX files (the format of MNIST)."),
      file(TRAINER_MEMBER(data.path), "CSV file with a header.",
           {.elsewhere = {"data.file"}, .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(data.target),
            "Column of the CSV file that is to be predicted; a list of columns for regression.",
            {.elsewhere = {"label_column", "data.label", "target_column"}}),
      choice(TRAINER_MEMBER(data.task), {"auto", "classification", "regression"},
             "What is predicted. auto: regression when the target is numeric and has fractions or "
             "more than 100 different values, else classification."),
      choice(TRAINER_MEMBER(data.delimiter), {"auto", "comma", "semicolon", "tab"},
             "Between the fields of the CSV file. auto: tab for .tsv and .tab, else comma.",
             {.elsewhere = {"sep", "separator"}}),
      texts(TRAINER_MEMBER(data.ignore),
            "Columns of the CSV file that are left out: names, or patterns with * and ?. So are "
            "the lists below.",
            {.elsewhere = {"ignore_column", "drop_columns"}}),
      texts(TRAINER_MEMBER(data.id),
            "Columns that name a row. They are no features; the checkpoint remembers them.",
            {.elsewhere = {"id_column", "index_col"}}),
      text(TRAINER_MEMBER(data.weight), "a column name", any_text,
           "Column that says how much a row counts in the loss, of training and of evaluations; "
           "other metrics count rows. It is no feature.",
           {.elsewhere = {"sample_weight", "weight_column"}}),
      choice(TRAINER_MEMBER(data.class_weights), {"none", "balanced"},
             "How much the rows of a class count in the loss. balanced: all classes alike, however "
             "many rows they have in the training part; data.weight counts on top of it.",
             {.elsewhere = {"class_weight", "scale_pos_weight"}}),
      texts(TRAINER_MEMBER(data.numeric),
            "Columns that are numbers: text in them is an error. Columns in no list are numeric "
            "when they hold numbers.",
            {.elsewhere = {"numerical_columns", "num_cols"}}),
      texts(TRAINER_MEMBER(data.categorical),
            "Columns that hold categories, numbers among them. Each category of the training part "
            "becomes a feature that is 1 or 0, and missing cells one more, unless there are many "
            "(data.embed_above). Columns in no list are categorical when they hold text.",
            {.elsewhere = {"categorical_feature", "cat_features", "cat_cols"}}),
      integer(TRAINER_MEMBER(data.max_categories), kAtLeast1,
              "A column of text with more different values is left out, unless data.categorical "
              "lists it."),
      integer(TRAINER_MEMBER(data.embed_above), kAtLeast0,
              "A categorical column with more categories in the training part is no features of 1 "
              "and 0: the model learns some numbers for each category (an embedding), and for what "
              "is missing or unknown.",
              {.elsewhere = {"embedding_threshold", "one_hot_max_size"}}),
      integer_or_auto(TRAINER_MEMBER(data.embedding_size), kEmbedding,
                      "How many numbers are learned for each category of such a column. auto: 1.6 "
                      "* categories^0.56, rounded, at most 50.",
                      {.elsewhere = {"embedding_dim", "emb_szs"}}),
      choice(TRAINER_MEMBER(data.unknown_category), {"unknown", "error"},
             "What a category means that the training part lacks: none of the known ones (all "
             "features of the column are 0), or an error.",
             {.elsewhere = {"handle_unknown"}}),
      choice(TRAINER_MEMBER(data.fill), {"mean", "median", "constant", "error"},
             "What takes the place of a missing number: mean or median of the column in the "
             "training part, data.fill_value, or nothing: it is an error.",
             {.elsewhere = {"imputer", "impute", "fillna"}}),
      number(TRAINER_MEMBER(data.fill_value), {},
             "Takes the place of missing numbers with data.fill: constant."),
      boolean(TRAINER_MEMBER(data.missing_indicator),
              "Whether a numeric column with missing values in the training part gets a further "
              "feature that is 1 where the value is missing.",
              {.elsewhere = {"add_indicator"}}),
      file(TRAINER_MEMBER(data.validation_path),
           "CSV file of the validation part, with the columns of data.path in any order. Then "
           "data.path is not divided for it.",
           {.elsewhere = {"val_path", "valid_path"}, .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.test_path), "The same for the test part.",
           {.on_resume = OnResume::kMayChange}),
      text(TRAINER_MEMBER(data.split_column), "a column name", any_text,
           "Column that says of each row which part it belongs to: train, validation (or val) or "
           "test. It is no feature.",
           {.elsewhere = {"split", "fold_column"}}),
      text(TRAINER_MEMBER(data.group), "a column name", any_text,
           "Column whose equal values belong together: rows of one group are never in two parts. "
           "It is no feature.",
           {.elsewhere = {"groups", "group_column"}}),
      integer(TRAINER_MEMBER(data.folds), kFolds,
              "Divides the rows into so many parts that are tested in turn, with the proportions "
              "of the classes and whole groups; in place of data.test_fraction. 0: does not. "
              "trainer cv trains one run for each fold.",
              {.elsewhere = {"n_splits", "cv"}}),
      integer(TRAINER_MEMBER(data.fold), kAtLeast1, "Which of data.folds is the test part."),
      file(TRAINER_MEMBER(data.idx.train_images), "IDX file, gzipped or plain.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.train_labels), "IDX file, gzipped or plain.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_images),
           "IDX file. Without it, data.test_fraction of the training images is the test part.",
           {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(data.idx.test_labels), "IDX file; goes with data.idx.test_images.",
           {.on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(data.synthetic.num_samples), kAtLeast1, "Rows to make.",
              {.elsewhere = {"n_samples"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_features), kWidth, "Columns to make.",
              {.elsewhere = {"input_dim"}}),
      integer(TRAINER_MEMBER(data.synthetic.num_classes), kClasses, "Classes to make."),
      number(TRAINER_MEMBER(data.synthetic.separation), kAtLeast0,
             "Distance of a class centre from the origin along each feature, in standard "
             "deviations of the noise. 0: nothing can be learnt."),
      number(TRAINER_MEMBER(data.validation_fraction), kFraction,
             "Part of the rows for validation, with the proportions of the classes. 0: none.",
             {.elsewhere = {"val_size", "validation_split", "val_split"}}),
      number(TRAINER_MEMBER(data.test_fraction), kFraction,
             "Part of the rows for the final test, with the proportions of the classes. 0: none.",
             {.elsewhere = {"test_size", "test_split"}}),
      choice(
          TRAINER_MEMBER(data.scaling), {"none", "standard", "minmax", "robust", "quantile"},
          "How numeric features are scaled, fitted on the training part: to mean 0 and standard "
          "deviation 1; to 0 .. 1; to median 0 and distance 1 between the quartiles; or to their "
          "place in the order of the training part, from -1 to 1 (CSV files only).",
          {.elsewhere = {"normalize", "standardize", "QuantileTransformer"}}),
      choice(TRAINER_MEMBER(data.target_scaling), {"none", "standard", "minmax", "robust"},
             "How the targets of a regression are scaled for the model, in the same ways. The loss "
             "is that of scaled targets; other metrics and predictions are in the units of the "
             "file.",
             {.elsewhere = {"normalize_target", "target_transform"}}),
  };
}

}  // namespace trainer::config
