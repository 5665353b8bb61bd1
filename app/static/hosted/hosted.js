// Shows what needs script: see hp-js in hosted.css.
"use strict";

document.documentElement.classList.add("js");
