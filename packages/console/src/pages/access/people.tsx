import type { Person } from '@backstop/client'
import { TextInput } from '@mantine/core'
import * as z from 'zod/mini'
import { api, useWrite } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { personList } from '../../api/system.ts'
import { defineFilters, resourceChoice, useFilters, useListFilters } from '../../parts/filters/index.ts'
import { DialogButton, Form, useFields } from '../../parts/form/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { AdminsOnly } from '../../parts/page/index.ts'
import { Badge } from '../../parts/show/index.ts'
import { projectOptions, useAdministration } from '../../session/administration.ts'
import { PersonPanel } from './person-panel.tsx'
import { RoleChoice, useFirstRole } from './role-choice.tsx'
import { nameRole } from './words.ts'

const PERSON = { person: z.string() }
const FILTERS = defineFilters(
  resourceChoice('project', 'Role in project', () => projectOptions(useAdministration().projects), true),
)

export function Page() {
  return (
    <AdminsOnly title="People">
      <People />
    </AdminsOnly>
  )
}

function People() {
  const filters = useListFilters(FILTERS)
  const { project } = filters.values
  const { nameProject } = useAdministration()
  return (
    <ListPage
      title="People"
      actions={<DialogButton label="New person">{close => <NewPerson close={close} />}</DialogButton>}
      filters={filters}
      list={useList(personList, project === undefined ? {} : { project_id: project })}
      columns={columnsWith(nameProject)}
      opens={{ param: 'person', show: (id, close) => <PersonPanel key={id} id={id} close={close} /> }}
      empty="Nobody yet. People who sign in with your organisation appear here by themselves; create others, and send them a sign-in link."
    />
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<Person>[] {
  const roles = ({ roles }: Person) =>
    roles.map(({ role, project_id }) => `${nameRole(role)} · ${nameProject(project_id)}`).join(', ') || 'No role'
  return [
    textColumn('Name', 'minmax(0, 1fr)', ({ name }) => name, { card: 'title' }),
    textColumn('E-mail', 'minmax(0, 1fr)', ({ email }) => email, { tone: 'dim' }),
    {
      title: 'Roles',
      width: 'minmax(0, 1.2fr)',
      card: 'line',
      cell: person =>
        person.disabled ? <Badge tone="quiet">Disabled</Badge> : <span dir="auto">{roles(person)}</span>,
    },
    timeColumn('Last sign-in', '112px', ({ last_sign_in_at }) => last_sign_in_at, { never: 'Never' }),
  ]
}

/** Creates a person, and opens the panel of the person, where a sign-in link is made. */
function NewPerson({ close }: { close: () => void }) {
  const [, changeUrl] = useFilters(PERSON)
  const { fields, field, edit } = useFields({ name: '', email: '', role: useFirstRole() })
  const create = useWrite(
    () => {
      const email = fields.email.trim()
      return api.people.createPerson({
        name: fields.name.trim(),
        ...(email === '' ? {} : { email }),
        roles: [fields.role],
      })
    },
    {
      refresh: ['people'],
      onDone({ person_id }) {
        close()
        changeUrl({ person: person_id })
      },
    },
  )
  return (
    <Form
      write={create}
      failed="The person was not created"
      button="Create person"
      isComplete={fields.name.trim() !== ''}
      onSubmit={() => create.mutate()}
      onCancel={close}
    >
      <TextInput data-autofocus label="Name" maxLength={200} {...field('name')} />
      <TextInput
        type="email"
        label="E-mail"
        description="Optional. It is shown to admins; Backstop sends nothing to it."
        {...field('email')}
      />
      <RoleChoice value={fields.role} onChange={role => edit({ role })} />
    </Form>
  )
}
