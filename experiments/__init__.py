"""The experiments of the paper, run again and compared with its tables: ``python -m experiments``.

*Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis* (Bonetti, Metelli,
Restelli); ``docs/paper.md`` says what came out. A module for each family of experiments
(``bivariate``, ``trivariate``, ``dimensions``, ``real_data``) has ``jobs``, which may run in any
order and process, and ``tables``, which compares their results with the paper.
"""
