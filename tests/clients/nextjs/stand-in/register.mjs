// `node --import` this file: next/server and next/headers are then the modules of this folder.

import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
