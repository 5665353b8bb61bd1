// Before the page is painted: what only script can do may be shown.
document.documentElement.classList.add("js");
