/** What Vitest reported about the files of a run. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The part of Vitest's JSON report that is read: https://vitest.dev/guide/reporters.html#json-reporter */
const REPORT = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
})

/** The result of a test file. */
export interface TestedFile {
  /** The absolute path. */
  path: string
  /** The number of tests that passed. */
  passed: number
  /** For each failure the name of the test, and the first line of its error. A failure outside of tests has no name of a test. */
  failures: { test: string | null; error: string }[]
}

export const hasFailed = (file: TestedFile): boolean => file.failures.length > 0

/** The results of the files of a run, or `null` if the run ended without a report. */
export function readReport(path: string): TestedFile[] | null {
  try {
    return testedFiles(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}

/**
 * The results of the files of a report.
 * @throws ZodError if it is not a report of Vitest
 */
export function testedFiles(report: unknown): TestedFile[] {
  return REPORT.parse(report).testResults.map(({ name, status, message, assertionResults }) => {
    const failures: TestedFile['failures'] = assertionResults
      .filter(test => test.status === 'failed')
      .map(test => ({ test: test.fullName, error: firstLine(test.failureMessages[0] ?? '') }))
    // A set-up that fails, or a file that cannot be imported, has no failed test.
    if (status === 'failed' && failures.length === 0) failures.push({ test: null, error: firstLine(message) })
    return { path: name, passed: assertionResults.filter(test => test.status === 'passed').length, failures }
  })
}

/** The files with the results of their second run in place of those of the first one. */
export function withRepeated(files: readonly TestedFile[], repeated: readonly TestedFile[]): TestedFile[] {
  const again = new Map(repeated.map(file => [file.path, file]))
  return files.map(file => again.get(file.path) ?? file)
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] || 'no error text; see the output above'
}
