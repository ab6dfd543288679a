/** Tells one thing that was done, in one line for a person. */
export type Report = (line: string) => void
