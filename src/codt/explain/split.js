"use strict";
// The only place in the page that compares a value with the number of a test.
function goesLeft(node, values) {
  return values[node.feature] <= node.at;
}
