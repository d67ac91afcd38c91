# Writes rra.json: p-values of robust rank aggregation by the R package RobustRankAggreg, for tests/many/test_consensus.py.
# On Debian: apt-get install r-cran-robustrankaggreg r-cran-jsonlite; Rscript tests/data/rra.R
library(RobustRankAggreg)

# Runs aggregateRanks on some lists, which have their items from best to worst.
case <- function(lists, universe, exact) {
  result <- aggregateRanks(lists, N = universe, exact = exact)
  list(
    lists = lists, universe = universe, exact = exact,
    p_values = setNames(as.list(result$Score), as.character(result$Name))
  )
}

set.seed(1)
items <- sprintf("g%02d", 1:40)
inputs <- list(
  list(
    list(
      x = c("d", "a", "b", "c"),
      y = c("a", "d", "x", "k", "b", "c", "m", "n", "o", "p"),
      z = c("a", "q", "d", "r", "b", "s", "t", "u", "v", "w", "x", "y")
    ), c(NA, 26)
  ),
  # complete lists that share a signal
  list(lapply(1:6, function(i) items[order(1:40 + rnorm(40, sd = 12))]), 40),
  # complete lists without one
  list(lapply(1:3, function(i) sample(items)), 40),
  # truncated lists of very different lengths
  list(lapply(c(2, 5, 12, 30), function(n) items[order(1:40 + rnorm(40, sd = 15))][1:n]), c(40, 20000)),
  list(lapply(1:2, function(i) sample(items, 8)), 100)
)
cases <- list()
for (input in inputs) for (universe in input[[2]]) for (exact in c(FALSE, TRUE)) {
  names(input[[1]]) <- letters[seq_along(input[[1]])]
  cases[[length(cases) + 1]] <- case(input[[1]], universe, exact)
}
result <- list(
  made_with = paste(R.version.string, "and RobustRankAggreg", packageVersion("RobustRankAggreg")),
  cases = cases
)
path <- file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "rra.json")
write(jsonlite::toJSON(result, auto_unbox = TRUE, digits = I(16), na = "null"), path)
