import type { ApiKey } from '@backstop/client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useList } from '../../api/list.ts'
import { keyList } from '../../api/system.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { FilterBar, SearchChoiceFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { AdminsOnly } from './admins-only.tsx'
import { KeyPanel } from './key-panel.tsx'
import { KeyState } from './key-state.tsx'
import { NewKey } from './new-key.tsx'
import { useAdministration } from './use-admin.ts'
import { nameScopes } from './words.ts'

const FILTERS = { project: z.string(), key: z.string() }

export function Page() {
  return (
    <AdminsOnly title="API keys">
      <Keys />
    </AdminsOnly>
  )
}

function Keys() {
  const [{ project, key }, setFilters, bind] = useFilters(FILTERS)
  const [isCreating, setIsCreating] = useState(false)
  const { projects, nameProject } = useAdministration()
  const list = useList(keyList, project === undefined ? {} : { project_id: project })
  return (
    <>
      <PageHead title="API keys" actions={<Button onClick={() => setIsCreating(true)}>New key</Button>} />
      <FilterBar>
        <SearchChoiceFilter
          label="Project"
          options={projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
          {...bind('project')}
        />
      </FilterBar>
      <DataList
        label="API keys"
        list={list}
        columns={columnsWith(nameProject)}
        hrefOf={({ key_id }) => hrefOf(key_id, project)}
        empty={<p>No API key. Software needs a key to report its operations; people sign in as themselves.</p>}
      />
      {isCreating && <NewKey close={() => setIsCreating(false)} />}
      {key !== undefined && <KeyPanel key={key} id={key} close={() => setFilters({ key: undefined })} />}
    </>
  )
}

function hrefOf(key: string, project: string | undefined): string {
  return `/system/keys?${new URLSearchParams({ ...(project === undefined ? {} : { project }), key })}`
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<ApiKey>[] {
  return [
    { title: 'State', width: '128px', card: 'line', cell: key => <KeyState apiKey={key} /> },
    { title: 'Name', width: 'minmax(0, 1fr)', card: 'title', cell: ({ name }) => <Text>{name}</Text> },
    { title: 'Key', width: '96px', cell: ({ hint }) => <span className="mono dim">{hint}…</span> },
    { title: 'May', width: 'minmax(0, 1fr)', card: 'line', cell: ({ scopes }) => <Text>{nameScopes(scopes)}</Text> },
    { title: 'Project', width: '144px', cell: ({ project_id }) => <Text>{nameProject(project_id)}</Text> },
    {
      title: 'Last used',
      width: '104px',
      align: 'end',
      card: 'end',
      cell: ({ last_used_at }) => <When at={last_used_at} />,
    },
  ]
}

function Text({ children }: { children: string }) {
  return (
    <span dir="auto" title={children} style={{ overflow: 'hidden', textOverflow: 'ellipsis' }}>
      {children}
    </span>
  )
}

function When({ at }: { at: string | null }) {
  return <span className="dim">{at === null ? 'Never' : <Time at={at} />}</span>
}
