import type { CreatedApiKey } from '@backstop/client'
import { Button, Checkbox, Group, Modal, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import type { Scope } from '../../api/system.ts'
import { Problem } from '../../parts/problem.tsx'
import { ShownOnce } from './shown-once.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { SCOPES } from './words.ts'

const ALL = 'all'
export const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
]

/** Makes a key, and shows it once. */
export function NewKey({ close }: { close: () => void }) {
  const [created, setCreated] = useState<CreatedApiKey | undefined>()
  const isShown = created !== undefined
  return (
    <Modal
      opened
      onClose={close}
      title={isShown ? `Key “${created.name}”` : 'New API key'}
      size={520}
      // A click beside the dialog must not lose a key that is shown once.
      closeOnClickOutside={!isShown}
    >
      {isShown ? <Created created={created} close={close} /> : <Form close={close} onCreated={setCreated} />}
    </Modal>
  )
}

function Created({ created, close }: { created: CreatedApiKey; close: () => void }) {
  return (
    <div className={classes.form}>
      <ShownOnce label="The new key" secret={created.key ?? ''}>
        Copy the key now and store it as a secret. Backstop stores only its hash and cannot show it again.
      </ShownOnce>
      <Group justify="flex-end">
        <Button onClick={close}>Done</Button>
      </Group>
    </div>
  )
}

function Form({ close, onCreated }: { close: () => void; onCreated: (key: CreatedApiKey) => void }) {
  const queryClient = useQueryClient()
  const { isAdminOfAll, projects } = useAdministration()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<Scope[]>(['read', 'operations:write'])
  const [project, setProject] = useState(isAdminOfAll ? ALL : (projects[0]?.project_id ?? ''))
  const [days, setDays] = useState('365')
  const create = useMutation({
    mutationFn: () =>
      api.apiKeys.create({
        name: name.trim(),
        scopes,
        ...(project === ALL ? {} : { project_id: project }),
        ...(days === '' ? {} : { expires_in_days: Number(days) }),
      }),
    onSuccess: key => {
      void queryClient.invalidateQueries({ queryKey: ['keys'] })
      onCreated(key)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const options = [
    ...(isAdminOfAll ? [{ value: ALL, label: 'All projects, also future ones' }] : []),
    ...projects.map(({ project_id, name }) => ({ value: project_id, label: name })),
  ]
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        placeholder="The software that uses it, for example Billing worker"
        maxLength={200}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
      <Checkbox.Group label="What the key may do" value={scopes} onChange={value => setScopes(value as Scope[])}>
        <div className={classes.choices}>
          {SCOPES.map(({ value, label, may }) => (
            <Checkbox key={value} size="sm" value={value} label={label} description={may} />
          ))}
        </div>
      </Checkbox.Group>
      <Select
        label="Project"
        data={options}
        value={project}
        searchable
        onChange={value => setProject(value ?? project)}
      />
      <Select label="Expires after" data={LIFETIMES} value={days} onChange={value => setDays(value ?? days)} />
      {create.error !== null && <Problem error={create.error} what="The key was not created" />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending} disabled={name.trim() === '' || scopes.length === 0}>
          Create key
        </Button>
      </Group>
    </form>
  )
}
