const KEY = 'backstop.last-project'

/** The project that this browser opened last. A browser may forbid storage; then none is remembered. */
export const lastProject = {
  read(): string | null {
    try {
      return localStorage.getItem(KEY)
    } catch {
      return null
    }
  },
  write(projectId: string): void {
    try {
      localStorage.setItem(KEY, projectId)
    } catch {
      // Only a convenience is lost.
    }
  },
}
