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
  vowel = c("mlbench", "Vowel"),
  # Others, to choose settings on tables that the results are not about.
  attrition = c("modeldata", "attrition"),
  beps = c("carData", "BEPS"),
  biomass = c("modeldata", "biomass", "sample", "dataset"),
  boston = c("mlbench", "BostonHousing"),
  cars = c("modeldata", "car_prices"),
  cells = c("modeldata", "cells", "case"),
  checks = c("modeldata", "check_times", "package"),
  chile = c("carData", "Chile"),
  diabetes = c("mlbench", "PimaIndiansDiabetes2"),
  dna = c("mlbench", "DNA"),
  hpc = c("modeldata", "hpc_data"),
  income = c("kernlab", "income"),
  ionosphere = c("mlbench", "Ionosphere"),
  quakes = c("datasets", "quakes"),
  sacramento = c("modeldata", "Sacramento"),
  slid = c("carData", "SLID"),
  soybean = c("mlbench", "Soybean"),
  titanic = c("carData", "TitanicSurvival"),
  vehicle = c("mlbench", "Vehicle"),
  wachurn = c("modeldata", "wa_churn")
)
for (name in names(tables)) {
  source <- tables[[name]]  # package, name, columns to leave out
  table <- table_of(source[1], source[2])
  table <- table[, setdiff(names(table), source[-(1:2)])]
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
