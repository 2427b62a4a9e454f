"use strict";
// What the scripts of both pages use. All text is set by textContent, never as HTML.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (value !== undefined && value !== null && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

function number(value) {
  if (value === null || !Number.isFinite(value)) return "not finite";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e12)) return value.toExponential(2);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4)).toLocaleString("en-US")}M`;
  if (size >= 1000) return Math.round(value).toLocaleString("en-US", { useGrouping: "min2" });  // 1970 may be a year
  return String(Number(value.toPrecision(4)));
}
