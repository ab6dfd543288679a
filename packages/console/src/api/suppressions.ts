import type { Suppression } from '@backstop/client'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const suppressionList = defineList<Suppression, { project_id: string }>({
  resource: 'suppressions',
  read: (query, signal) => api.suppressions.list(query, { signal }),
  idOf: suppression => suppression.address,
})
