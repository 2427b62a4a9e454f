# SPDX-License-Identifier: Apache-2.0
# Writes the public tables that R packages bring, one CSV file each.
# Usage: Rscript export_tables.R FOLDER
folder <- commandArgs(trailingOnly = TRUE)[1]

# "diamonds" of ggplot2 as a data frame.
table_of <- function(package, name) {
  space <- new.env()
  data(list = name, package = package, envir = space)
  as.data.frame(get(name, envir = space))
}

tables <- list(
  ames = c("modeldata", "ames"),
  churn = c("modeldata", "mlc_churn"),
  concrete = c("modeldata", "concrete"),
  credit = c("modeldata", "credit_data"),
  diamonds = c("ggplot2", "diamonds"),
  lending = c("modeldata", "lending_club"),
  letters = c("mlbench", "LetterRecognition"),
  salaries = c("carData", "Salaries"),
  satellite = c("mlbench", "Satellite"),
  spam = c("kernlab", "spam"),
  stackoverflow = c("modeldata", "stackoverflow"),
  vowel = c("mlbench", "Vowel")
)
for (name in names(tables)) {
  table <- table_of(tables[[name]][1], tables[[name]][2])
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
