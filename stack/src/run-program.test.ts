import { expect, test } from 'vitest'
import { ProgramFailure, runProgram } from './run-program.ts'

test('fails if this process was too busy to read the output within the time limit, and does not report an empty one', async () => {
  const running = runProgram(process.execPath, ['-e', 'console.log(1)'], { timeoutMs: 100 })
  const blockedUntil = performance.now() + 1_500
  while (performance.now() < blockedUntil);
  await expect(running).rejects.toBeInstanceOf(ProgramFailure)
  await expect(running).rejects.toThrow('did not end within 0.1 s')
})
