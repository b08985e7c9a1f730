// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// What can be scrolled sideways can be reached by keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".table-wrapper, .highlight pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
