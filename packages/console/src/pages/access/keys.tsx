import type { ApiKey } from '@backstop/client'
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useList } from '../../api/list.ts'
import { keyList } from '../../api/system.ts'
import { defineFilters, resourceChoice, useListFilters } from '../../parts/filters/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { AdminsOnly } from '../../parts/page/index.ts'
import { projectOptions, useAdministration } from '../../session/administration.ts'
import { KeyPanel, KeyState } from './key-panel.tsx'
import { NewKey } from './new-key.tsx'
import { nameScopes } from './words.ts'

const FILTERS = defineFilters(
  resourceChoice('project', 'Project', () => projectOptions(useAdministration().projects), true),
)

export function Page() {
  return (
    <AdminsOnly title="API keys">
      <Keys />
    </AdminsOnly>
  )
}

function Keys() {
  const filters = useListFilters(FILTERS)
  const { project } = filters.values
  const [isCreating, { open, close }] = useDisclosure()
  const { nameProject } = useAdministration()
  return (
    <>
      <ListPage
        title="API keys"
        actions={<Button onClick={open}>New key</Button>}
        filters={filters}
        list={useList(keyList, project === undefined ? {} : { project_id: project })}
        columns={columnsWith(nameProject)}
        opens={{ param: 'key', show: (id, close) => <KeyPanel key={id} id={id} close={close} /> }}
        empty="No API key. Software needs a key to report its operations; people sign in as themselves."
      />
      {isCreating && <NewKey close={close} />}
    </>
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<ApiKey>[] {
  return [
    { title: 'State', width: '128px', card: 'line', cell: key => <KeyState apiKey={key} /> },
    textColumn('Name', 'minmax(0, 1fr)', ({ name }) => name, { card: 'title' }),
    textColumn('Key', '96px', ({ hint }) => `${hint}…`, { tone: 'mono dim' }),
    textColumn('May', 'minmax(0, 1fr)', ({ scopes }) => nameScopes(scopes), { card: 'line' }),
    textColumn('Project', '144px', ({ project_id }) => nameProject(project_id)),
    timeColumn('Last used', '104px', ({ last_used_at }) => last_used_at, { never: 'Never' }),
  ]
}
