"""The estimators: classifier and regressor, fitting, and what a fit ends with."""
