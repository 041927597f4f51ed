import { writeFileSync } from 'node:fs';
import { machinesPage } from './page.ts';

writeFileSync(new URL('../machines.md', import.meta.url), machinesPage());
