import type { Person } from '@backstop/client'
import { Button, Group, Select, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { personQuery, type Role } from '../../api/system.ts'
import { formatClock } from '../../format/times.ts'
import { ConfirmButton, isLostRace, LostRace } from '../../parts/form/index.ts'
import { Panel, Section } from '../../parts/list/index.ts'
import { Problem, Read } from '../../parts/page/index.ts'
import { Badge, Facts, idFact, ShownOnce, timeFact } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'
import { useSession } from '../../session/session.ts'
import classes from './person-panel.module.css'
import { RoleChoice, type RoleInProject, useFirstRole } from './role-choice.tsx'
import { nameRole, ROLES } from './words.ts'

/** One person: facts, roles, the sign-in link, and what ends the access. */
export function PersonPanel({ id, close }: { id: string; close: () => void }) {
  const query = useQuery(personQuery(id))
  const { isAdminOfAll } = useAdministration()
  return (
    <Panel title={query.data?.name ?? 'Person'} close={close}>
      <Read query={query} what="The person could not be read">
        {person => (
          <>
            <PersonFacts person={person} />
            <Roles person={person} />
            {isAdminOfAll && !person.disabled && <SignInLink person={person} />}
            {isAdminOfAll && <Access person={person} close={close} />}
          </>
        )}
      </Read>
    </Panel>
  )
}

function PersonFacts({ person: { disabled, email, issuer, last_sign_in_at, created_at, person_id } }: Props) {
  const state = disabled ? <Badge tone="quiet">Disabled</Badge> : <Badge tone="good">May sign in</Badge>
  return (
    <Facts
      facts={[
        ['State', state],
        ['E-mail', email],
        ['Signs in', issuer === null ? 'By a link' : `With ${issuer}`],
        ['Last sign-in', timeFact(last_sign_in_at) ?? 'Never'],
        ['Created', timeFact(created_at)],
        ['Id', idFact(person_id)],
      ]}
    />
  )
}

interface Props {
  person: Person
}
type RoleChange = { project_id: string | null; role: Role | null }

/** Changes a role of the person, and shows both versions if somebody changed the person first. */
function useRoleChange({ person_id, version }: Person) {
  return useWrite((role: RoleChange) => api.people.changePerson(person_id, { roles: [role] }, { ifVersion: version }), {
    refresh: ['people'],
    onError: error => void (isLostRace(error) && refresh('people')),
  })
}

function Roles({ person }: Props) {
  const { nameProject, isAdminOfAll, projects } = useAdministration()
  const change = useRoleChange(person)
  const mayChange = (project: string | null) =>
    isAdminOfAll || projects.some(({ project_id }) => project_id === project)
  return (
    <Section title="Roles">
      {person.roles.length === 0 && <p className="dim">No role yet, so this person can see nothing.</p>}
      <ul className={classes.roles}>
        {person.roles.map(({ project_id, role, source }) => (
          <li key={`${source} ${project_id}`}>
            <span className="cut" dir="auto">
              {nameProject(project_id)}
            </span>
            {source === 'assigned' && mayChange(project_id) ? (
              <AssignedRole
                role={role}
                where={nameProject(project_id)}
                onChange={next => change.mutate({ project_id, role: next })}
              />
            ) : (
              <>
                <span>{nameRole(role)}</span>
                <span className="faint">{source === 'group' ? 'by group' : ''}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      {person.roles.some(({ source }) => source === 'group') && (
        <p className="dim">Roles by group come from your organisation at each sign-in, and are changed there.</p>
      )}
      <RoleProblem change={change} />
      <AddRole onAdd={role => change.mutateAsync(role)} />
    </Section>
  )
}

function RoleProblem({ change }: { change: ReturnType<typeof useRoleChange> }) {
  const { nameProject } = useAdministration()
  const { error, variables, reset, mutate } = change
  if (error === null) return null
  if (!isLostRace(error) || variables === undefined) return <Problem error={error} what="The role was not changed" />
  const role = variables.role === null ? 'no role' : nameRole(variables.role)
  return (
    <LostRace
      theirs="The roles above"
      yours={`${role} · ${nameProject(variables.project_id)}`}
      onKeepTheirs={reset}
      onApplyYours={() => mutate(variables)}
    />
  )
}

interface AssignedProps {
  role: Role
  where: string
  onChange: (role: Role | null) => void
}

function AssignedRole({ role, where, onChange }: AssignedProps) {
  return (
    <>
      <Select
        size="xs"
        aria-label={`Role in ${where}`}
        data={ROLES.map(({ value, label }) => ({ value, label }))}
        value={role}
        onChange={next => next !== null && next !== role && onChange(next as Role)}
      />
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`Remove the role in ${where}`}
        onClick={() => onChange(null)}
      >
        Remove
      </Button>
    </>
  )
}

function AddRole({ onAdd }: { onAdd: (role: RoleInProject) => Promise<unknown> }) {
  const first = useFirstRole()
  const [role, setRole] = useState<RoleInProject | undefined>()
  if (role === undefined) {
    return (
      <Group gap="sm">
        <Button variant="default" onClick={() => setRole(first)}>
          Add a role
        </Button>
      </Group>
    )
  }
  const close = () => setRole(undefined)
  // A failure is shown above, so the form only stays open.
  const add = () => void onAdd(role).then(close, () => undefined)
  return (
    <Stack gap="md">
      <RoleChoice value={role} onChange={setRole} />
      <Group gap="sm">
        <Button onClick={add}>Add</Button>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}

function SignInLink({ person: { person_id, name } }: Props) {
  const { data, error, isPending, mutate } = useWrite(() => api.signInLinks.create({ person_id }))
  return (
    <Section title="Sign-in link">
      {data?.url === undefined ? (
        <p className="dim">
          The link signs a browser in as this person, once, within five minutes. Send it only to this person.
        </p>
      ) : (
        <ShownOnce label="The sign-in link" secret={data.url}>
          {`It works once, until ${formatClock(Date.parse(data.expires_at))}. Whoever opens it is signed in as ${name}.`}
        </ShownOnce>
      )}
      <Group gap="sm">
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          {data === undefined ? 'Create a sign-in link' : 'Create another link'}
        </Button>
      </Group>
      <Problem error={error} what="The link was not created" />
    </Section>
  )
}

function Access({ person: { person_id, name, version, disabled }, close }: Props & { close: () => void }) {
  const { me } = useSession()
  const isOwn = me?.id === person_id ? ' You are signed in as this person: your session ends too.' : ''
  const disable = async (disabled: boolean) => {
    await api.people.changePerson(person_id, { disabled }, { ifVersion: version })
    await refresh('people', 'sessions')
  }
  const enable = useWrite(() => disable(false))
  const remove = async () => {
    await api.people.removePerson(person_id)
    close()
    await refresh('people', 'sessions')
  }
  return (
    <Section title="Access">
      <Group gap="sm">
        {disabled ? (
          <Button variant="default" loading={enable.isPending} onClick={() => enable.mutate()}>
            Enable
          </Button>
        ) : (
          <ConfirmButton
            question={`Disable ${name}?`}
            consequence={`All sessions of this person end, and every sign-in is refused until you enable the person again.${isOwn}`}
            onConfirm={() => disable(true)}
          >
            Disable
          </ConfirmButton>
        )}
        <ConfirmButton
          question={`Remove ${name}?`}
          consequence={`All sessions of this person end, and the assigned roles are lost. Somebody whom your organisation still knows appears again at the next sign-in; disable such a person instead.${isOwn}`}
          onConfirm={remove}
        >
          Remove
        </ConfirmButton>
      </Group>
      <Problem error={enable.error} what="The person was not enabled" />
    </Section>
  )
}
