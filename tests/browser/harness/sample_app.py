"""A tiny app with one of each widget, and with faults on demand: what the harness is tested on."""

from __future__ import annotations

import time

import plotly.graph_objects as go
import streamlit as st

fault = st.query_params.get("fault", "")

temperature = st.slider("Temperature", 0.0, 2.0, 1.0, 0.05, key="temperature")
layer = st.selectbox("Layer", range(30), key="layer")
view = st.segmented_control("View", ["heads", "layers"], key="view", default="heads")
chat = st.toggle("Chat", key="chat")
prompt = st.text_area("Prompt", "hello", key="prompt")
pressed = st.button("Go", key="go")

time.sleep(0.3)  # as if there were work to do: an answer that is read too early is a wrong one
answer = f"{temperature} {layer} {view} {chat} {prompt} {pressed}"
with st.container(key="answer"):
    st.text(answer)
if not fault:  # its script is half of the loading time
    st.plotly_chart(go.Figure(go.Bar(x=[0, 1], y=[temperature, 1])), key="chart")

if fault == "console":
    st.html("<script>console.error('a complaint')</script>", unsafe_allow_javascript=True)
if fault == "uncaught":
    st.html("<script>setTimeout(() => nowhere(), 0)</script>", unsafe_allow_javascript=True)
if fault == "foreign":
    st.html('<img alt="" src="http://picture.example/x.png">')
if fault == "exception":
    raise ValueError("a fault on demand")
