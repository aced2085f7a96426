"use strict";
// The only place in the page that decides where a value goes: null is a missing one, categories are numbers.
function goesLeft(node, values) {
  if (values[node.feature] === null) return node.missing;
  if (node.among) return node.among.includes(values[node.feature]);
  // Without a number the test is whether the value is missing.
  return node.at === null ? !node.missing : values[node.feature] <= node.at;
}
