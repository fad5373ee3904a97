"""What is true: weights, tokenizer, hooked forward pass, sampling and decoding.

The engine knows torch and transformers and never Streamlit or Plotly. What leaves it is plain:
frozen dataclasses of read-only float32 numpy arrays and Python values.

Shape key, used in docstrings and as suffixes of local names (`scores_HTS`):

    B  batch                    T  query tokens           S  key tokens
    L  layers                   H  query heads            G  key/value heads
    K  head size                D  model width            F  feed-forward width
    V  vocabulary
"""
