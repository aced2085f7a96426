"""The estimators: classifier and regressor, fitting, and the result of a fit."""
