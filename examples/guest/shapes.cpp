// C++ without exceptions: virtual functions, templates, new and delete, objects before and after main.
#include <stdio.h>
#include <initializer_list>
#include <new>

template <typename T, unsigned N> class List {
public:
    List(std::initializer_list<T> from) { for (const T &item : from) add(item); }
    void add(T item) { if (count < N) items[count++] = item; }
    T *begin() { return items; }
    T *end() { return items + count; }
private:
    T items[N];
    unsigned count = 0;
};

class Shape {
public:
    virtual ~Shape() { alive--; }
    virtual double area() const = 0;
    virtual const char *name() const { return "shape"; }
    static int alive;
protected:
    Shape() { alive++; }
};
int Shape::alive;

class Square : public Shape {
public:
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
    const char *name() const override { return "square"; }
private:
    double side;
};

class Circle : public Shape {
public:
    explicit Circle(double radius) : radius(radius) {}
    double area() const override { return 3.141592653589793 * radius * radius; }
    const char *name() const override { return "circle"; }
private:
    double radius;
};

struct Announcer {
    Announcer() { puts("before main"); }
    ~Announcer() { puts("after main"); }
};
static Announcer announcer;

static int next()
{
    static int *counter = new int(40);
    return ++*counter;
}

int main()
{
    List<Shape *, 8> shapes = {new Square(1.5), new Circle(2)};
    double sum = 0;
    for (Shape *s : shapes) {
        printf("%s %.4f\n", s->name(), s->area());
        sum += s->area();
    }
    printf("%d shapes, %.10g in all\n", Shape::alive, sum);
    for (Shape *s : shapes) delete s;
    alignas(Square) char place[sizeof(Square)];
    Shape *here = new (place) Square(3);
    printf("%d alive, %g\n", Shape::alive, here->area());
    here->~Shape();
    auto twice = [](int n) { return 2 * n; };
    next();
    printf("%d alive, %d\n", Shape::alive, twice(next() / 2));
    return 0;
}
