import { AppError } from '@backstop/kit/errors'
import type { Principal } from '../../access/rules/access.ts'

/** @throws AppError `forbidden` for a key or role of one project */
export function requireAllProjects({ projectIds }: Pick<Principal, 'projectIds'>): void {
  if (projectIds === null) return
  throw new AppError('forbidden', 'The audit is one chain for all projects; this requires admin in all projects')
}
