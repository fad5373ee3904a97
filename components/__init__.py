"""What people see: figures and widgets made from plain results.

Components know Streamlit and Plotly. They never touch a model: they take the engine's frozen
results and settings and draw them.
"""
