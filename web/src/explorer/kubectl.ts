// What a user would type to see the same: kubectl, quoted for a shell. Names come from clusters, and are not trusted to be names.

/** quoted is a text as one word of a shell. */
export function quoted(text: string): string {
  return /^[A-Za-z0-9._:/=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

interface Wanted {
  /** resource is the name of the kind for kubectl, such as deployments.apps. */
  resource: string
  namespace?: string
  name: string
}

/** option is an option with its value; in one word where the value could be taken for another option. */
function option(short: string, long: string, value: string | undefined): string[] {
  if (!value) return []
  return value.startsWith('-') ? [quoted(`--${long}=${value}`)] : [short, quoted(value)]
}

export function getCommand({ resource, namespace, name }: Wanted): string {
  return ['kubectl get', quoted(`${resource}/${name}`), ...option('-n', 'namespace', namespace), '-o yaml'].join(' ')
}

export function describeCommand({ resource, namespace, name }: Wanted): string {
  return ['kubectl describe', quoted(`${resource}/${name}`), ...option('-n', 'namespace', namespace)].join(' ')
}

export interface Log {
  namespace: string
  pod: string
  container?: string
  previous?: boolean
  follow?: boolean
}

export function logsCommand({ namespace, pod, container, previous, follow }: Log): string {
  return [
    'kubectl logs',
    quoted(`pod/${pod}`),
    ...option('-n', 'namespace', namespace),
    ...option('-c', 'container', container),
    ...(previous ? ['--previous'] : []),
    ...(follow && !previous ? ['-f'] : []),
  ].join(' ')
}
