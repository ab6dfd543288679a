import { AppError } from '@backstop/kit/errors'
import type { Case, ErasureScope } from '@backstop/verdict'
import type { WorkItem } from '../batch/work-item.ts'

/** Decides the cases of these items again (reconcile-batch.ts). */
type Reconcile = (items: readonly WorkItem[]) => Promise<void>

/**
 * Erases the personal data of these cases together, or one by one if that fails, so that one case does not stop the
 * others.
 * @throws AppError `unavailable`, because every case would fail
 */
export async function eraseCases(
  cases: readonly Case[],
  scope: ErasureScope,
  { reconcile }: { readonly reconcile: Reconcile },
): Promise<{ readonly erased: readonly Case[]; readonly failed: readonly unknown[] }> {
  const erase = async (some: readonly Case[]): Promise<unknown[]> => {
    if (some.length === 0) return []
    try {
      await reconcile(some.map(theCase => itemOf(theCase, scope)))
      return []
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error
      return [error]
    }
  }
  const failedTogether = await erase(cases)
  if (failedTogether.length === 0) return { erased: cases, failed: [] }
  if (cases.length === 1) return { erased: [], failed: failedTogether }
  const erased: Case[] = []
  const failed: unknown[] = []
  for (const theCase of cases) {
    const failures = await erase([theCase])
    failed.push(...failures)
    if (failures.length === 0) erased.push(theCase)
  }
  return { erased, failed }
}

function itemOf({ projectId, refs }: Case, scope: ErasureScope): WorkItem {
  return { kind: 'erase_personal_data', projectId, ref: refs[0] ?? '', scope }
}
