// Objects that fail loudly where the real ones would: on a member that is not modelled, and after they are destroyed.
import { EventEmitter } from 'node:events';

/** What the language and Node look up on any object. */
const LANGUAGE = new Set(['then', 'toJSON', 'domain']);

interface Life {
  isDestroyed(): boolean;
}

const ALIVE: Life = { isDestroyed: () => false };

/**
 * @param name as it appears in the error, `app`
 * @param members checked against Electron's own types by the caller, with `satisfies`
 * @param life once it is destroyed, every member but `isDestroyed` throws, as Electron's native members do
 */
export function strict<Real extends object>(name: string, members: object, life: Life = ALIVE): Real {
  const native = new Set(Object.keys(members));
  native.delete('isDestroyed');
  const check = (property: string | symbol): void => {
    if (typeof property !== 'string' || LANGUAGE.has(property)) return;
    if (!(property in members)) throw new Error(`the Electron stand-in does not model ${name}.${property}`);
    if (native.has(property) && life.isDestroyed()) throw new TypeError('Object has been destroyed');
  };
  return new Proxy(members, {
    get(target, property, receiver) {
      check(property);
      return Reflect.get(target, property, receiver);
    },
    set(target, property, value, receiver) {
      check(property);
      return Reflect.set(target, property, value, receiver);
    },
  }) as Real;
}

/** The same for an object that emits events; its listeners stay usable after it is destroyed, as in Electron. */
export function strictEmitter<Real extends object>(name: string, members: object, life: Life = ALIVE): Real {
  const emitter = Object.create(new EventEmitter(), Object.getOwnPropertyDescriptors(members)) as object;
  const proxy = strict<Real>(name, emitter, life);
  return proxy;
}

/** A structured clone, with Electron's own error (shell/common/v8_util.cc). */
export function cloned<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    throw new Error('An object could not be cloned.');
  }
}

/** An event as Electron passes it first to every listener. */
export function electronEvent<Fields extends object>(fields: Fields) {
  const event = {
    ...fields,
    defaultPrevented: false,
    preventDefault(): void {
      event.defaultPrevented = true;
    },
  };
  return event;
}

/** For `emit`, which Electron’s types do not declare for every object. */
export function emit(target: object, name: string, ...args: unknown[]): boolean {
  return (target as EventEmitter).emit(name, ...args);
}
