"""
Glucose from spectra
====================

Short.
"""

# %%
# Text.

import matplotlib.pyplot as plt

from lincfa import LinCFACV
from lincfa.datasets import make_spectra
from lincfa.plotting import plot_spectrum

X, y = make_spectra(40, 100, random_state=0)
model = LinCFACV(cv=5).fit(X, y)
plot_spectrum(model)
plt.show()
