/** Reports one change, in one line for a person. */
export type Report = (line: string) => void
