"""The options of search and estimators: their table, and limits as users write them."""
