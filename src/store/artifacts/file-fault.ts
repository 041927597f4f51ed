/** The file is not there. */
export class MissingFile extends Error {}

/** The file is not what was stored. */
export class DamagedFile extends Error {}

/** Something stands in the place of the file that is none, such as a link. */
export class UnsafeFile extends Error {}
